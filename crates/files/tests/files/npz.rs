//! Arrays of `.npz` files, by name; and archives that are not as they should be.

use std::fs;
use std::path::Path;
use xla_shape::ArrayShape;
use xla_shape_files::{ArrayFile, Error, FileError, Relayout, RelayoutOptions, write_array};

/// `numpy.savez(file, w=numpy.arange(6, dtype='u1').reshape(2, 3), **{'layer.0/b': numpy.float32([1.5, -2])})`
const NUMPY: &[u8] = include_bytes!("numpy.npz");
/// The same by `numpy.savez_compressed`.
const COMPRESSED: &[u8] = include_bytes!("numpy_compressed.npz");

/// The shape and the bytes of an array in a file with these bytes.
fn read(folder: &Path, bytes: &[u8], name: Option<&str>) -> Result<(String, Vec<u8>), Error> {
    let path = folder.join("x.npz");
    fs::write(&path, bytes).unwrap();
    let file = ArrayFile::open(&path, name, None)?;
    Ok((file.shape().to_string(), file.read()?.as_ref().to_vec()))
}

fn refused(folder: &Path, bytes: &[u8], name: Option<&str>) -> FileError {
    match read(folder, bytes, name) {
        Err(Error::File { error, .. }) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn arrays_of_numpy_are_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let b = [1.5_f32, -2.0].into_iter().flat_map(f32::to_le_bytes).collect::<Vec<_>>();
    assert_eq!(read(folder, NUMPY, Some("w")).unwrap(), ("u8[2,3]{1,0}".to_owned(), vec![0, 1, 2, 3, 4, 5]));
    assert_eq!(read(folder, NUMPY, Some("layer.0/b")).unwrap(), ("f32[2]{0}".to_owned(), b));
    assert!(matches!(refused(folder, NUMPY, None), FileError::SeveralTensors { count: 2 }));
    let FileError::NoTensor { names, .. } = refused(folder, NUMPY, Some("v")) else { panic!("another error") };
    assert_eq!(names, ["w", "layer.0/b"]);
    assert_eq!(
        refused(folder, COMPRESSED, Some("w")).to_string(),
        "array `w` is compressed; write the file with `numpy.savez`, or unpack it (`unzip`) and read `w.npy`"
    );

    // All other functions read through `ArrayFile`. A relayout of a member that is a part of the file is exact, too.
    let source = ArrayFile::open(folder.join("x.npz"), Some("w"), None).unwrap_err();
    assert!(matches!(source, Error::File { .. }), "the compressed one");
    fs::write(folder.join("x.npz"), NUMPY).unwrap();
    let source = ArrayFile::open(folder.join("x.npz"), Some("w"), None).unwrap();
    let options = RelayoutOptions::new().transposed(&[1, 0]);
    Relayout::new(&source, folder.join("y.bin"), &options.to("{1,0}".parse().unwrap())).unwrap().run(&|_| {}).unwrap();
    assert_eq!(fs::read(folder.join("y.bin")).unwrap(), [0, 3, 1, 4, 2, 5]);
    let written = write_array(folder.join("z.npz"), &"u8[2]".parse().unwrap(), None, &[1, 2]);
    assert!(matches!(written, Err(Error::File { error: FileError::ArchiveIsWritten, .. })));
}

/// An archive with one stored member, as `zip` writes it: numbers of 64 bits where `is_long` says so.
fn archive(name: &str, contents: &[u8], is_long: bool) -> Vec<u8> {
    let length = u32::try_from(contents.len()).unwrap();
    let name_length = u16::try_from(name.len()).unwrap().to_le_bytes();
    let short = if is_long { u32::MAX } else { length };
    let long = [
        &1_u16.to_le_bytes()[..],
        &24_u16.to_le_bytes(),
        &u64::from(length).to_le_bytes(),
        &u64::from(length).to_le_bytes(),
        &[0; 8],
    ];
    let extra = if is_long { long.concat() } else { Vec::new() };
    let sizes = [short.to_le_bytes(), short.to_le_bytes()].concat();
    let lengths = [name_length, u16::try_from(extra.len()).unwrap().to_le_bytes()].concat();
    let local =
        [b"PK\x03\x04", &[45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &sizes, &lengths, name.as_bytes(), &extra]
            .concat();
    let offset = if is_long { u32::MAX } else { 0 };
    let directory = [
        b"PK\x01\x02",
        &[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
        &sizes,
        &lengths,
        &[0; 10],
        &offset.to_le_bytes(),
        name.as_bytes(),
        &extra,
    ]
    .concat();
    let place = (local.len() + contents.len()) as u64;
    let size = directory.len() as u64;
    let mut file = [local.as_slice(), contents, &directory].concat();
    let mut numbers = [u32::try_from(size).unwrap(), u32::try_from(place).unwrap()];
    if is_long {
        let end = file.len() as u64;
        let record = [b"PK\x06\x06", &44_u64.to_le_bytes()[..], &[0; 12], &1_u64.to_le_bytes(), &1_u64.to_le_bytes()];
        file.extend([&record.concat()[..], &size.to_le_bytes(), &place.to_le_bytes()].concat());
        file.extend([b"PK\x06\x07", &[0; 4][..], &end.to_le_bytes(), &[1, 0, 0, 0]].concat());
        numbers = [u32::MAX; 2];
    }
    let [size, place] = numbers.map(u32::to_le_bytes);
    file.extend([b"PK\x05\x06", &[0, 0, 0, 0, 1, 0, 1, 0][..], &size, &place, &[4, 0], b"note"].concat());
    file
}

#[test]
fn archives_of_other_programs_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let array = "u8[3]".parse::<ArrayShape>().unwrap();
    let npy = [xla_shape::npy::write_header(&array).unwrap(), vec![7, 8, 9]].concat();
    for is_long in [false, true] {
        let file = archive("only.npy", &npy, is_long);
        assert_eq!(read(folder.path(), &file, None).unwrap(), ("u8[3]{0}".to_owned(), vec![7, 8, 9]), "{is_long}");
        let other = archive("only.txt", &npy, is_long);
        assert!(matches!(refused(folder.path(), &other, None), FileError::SeveralTensors { count: 0 }));
        assert!(matches!(refused(folder.path(), &archive("x.npy", b"no array", is_long), None), FileError::Npy(_)));
    }
}

#[test]
fn a_damaged_archive_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let array = "u8[3]".parse::<ArrayShape>().unwrap();
    let npy = [xla_shape::npy::write_header(&array).unwrap(), vec![7, 8, 9]].concat();
    let long = archive("only.npy", &npy, true);
    let start = long.windows(npy.len()).position(|part| part == npy).unwrap();
    for place in (0..start).chain(start + npy.len()..long.len()) {
        assert!(read(folder.path(), &long[..place], None).is_err(), "the first {place} bytes");
        // What is not read may have any value: the rest is an error, and allocates no more than the file has.
        let mut file = long.clone();
        file[place] = !file[place];
        let _ = read(folder.path(), &file, None);
    }
    let refused = |place: usize, bytes: &[u8]| {
        let mut file = long.clone();
        file[place..place + bytes.len()].copy_from_slice(bytes);
        refused(folder.path(), &file, None).to_string()
    };
    let directory = 30 + 8 + 28 + npy.len();
    let numbers = directory + 46 + 8 + 4;
    let huge = u64::MAX.to_le_bytes();
    for (place, bytes, expected) in [
        (directory + 8, &[1_u8][..], "this array is encrypted"),
        (numbers, &huge, "what its directory says of this array is not what stands before the array"),
        (numbers + 8, &huge, "this array is not in the file"),
        (numbers + 16, &huge, "this array is not in the file"),
        (30, b"x", "what its directory says of this array is not what stands before the array"),
        (directory + 46 + 36 + 40, &huge, "its directory is not in the file"),
        (directory + 46 + 36 + 48, &huge, "its directory is not in the file"),
        (long.len() - 4 - 2, &[5], "it does not end like one; was it written to its end?"),
    ] {
        assert_eq!(refused(place, bytes), format!("this .npz file is not read: {expected}"), "{place}");
    }
}

#[test]
#[cfg(unix)]
fn a_pipe_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("x.npz");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::OpenOptions::new().write(true).open(pipe).map(drop)
    });
    let error = ArrayFile::open(&pipe, None, None).unwrap_err();
    assert!(error.to_string().contains("it must be a file, not a pipe"), "{error}");
    writer.join().unwrap().unwrap();
}
