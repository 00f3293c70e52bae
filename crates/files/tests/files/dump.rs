//! Which files lie beside a module.

use std::fs;
use tempfile::TempDir;
use xla_shape_files::Dump;

fn folder(names: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        fs::write(folder.path().join(name), name).unwrap();
    }
    folder
}

#[test]
fn a_module_is_not_beside_itself() {
    let [text, message, assignment] =
        ["after_optimizations.txt", "after_optimizations.hlo.pb", "buffer-assignment.txt"]
            .map(|name| format!("m.{name}"));
    let folder = folder(&[&text, &message, &assignment]);
    let at = |name: &String| folder.path().join(name);
    let of_message = Dump::find(at(&message)).unwrap();
    assert_eq!((of_message.files().proto.as_ref(), of_message.files().module.as_ref()), (None, Some(&text)));
    assert_eq!(of_message.paths().collect::<Vec<_>>(), [&message, &text, &assignment].map(at));
    for of_text in [Dump::find(at(&text)).unwrap(), Dump::find(folder.path()).unwrap()] {
        assert_eq!(of_text.module(), at(&text));
        assert_eq!(of_text.files().proto.as_ref(), Some(&message));
        assert_eq!(of_text.paths().collect::<Vec<_>>(), [&text, &message, &assignment].map(at));
        assert_eq!(of_text.read(&assignment).unwrap(), assignment.as_bytes());
        assert_eq!(of_text.others(), [""; 0]);
    }
}

#[test]
fn a_directory_stands_for_its_largest_module_with_an_assignment() {
    let folder =
        folder(&["small.after.hlo", "small.buffer-assignment.txt", "the.largest.one.after.hlo", "z.after.hlo"]);
    let dump = Dump::find(folder.path()).unwrap();
    assert_eq!(dump.module(), folder.path().join("small.after.hlo"));
    assert_eq!(dump.others(), ["the.largest.one.after.hlo", "z.after.hlo"]);
    fs::remove_file(folder.path().join("small.buffer-assignment.txt")).unwrap();
    let dump = Dump::find(folder.path()).unwrap();
    assert_eq!(dump.module(), folder.path().join("the.largest.one.after.hlo"));
}

#[test]
fn nothing_is_beside_other_files_and_standard_input() {
    let folder = folder(&["m.after.hlo", "m.stats.json", "notes.txt"]);
    for path in [folder.path().join("notes.txt"), folder.path().join("none.hlo"), "-".into()] {
        let dump = Dump::find(&path).unwrap();
        assert_eq!(dump.paths().collect::<Vec<_>>(), [path]);
    }
}
