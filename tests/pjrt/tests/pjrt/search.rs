//! The places where a plug-in is looked for by programs that are started in an untrusted directory.

use std::env::{self, consts};
use std::fs;
use std::process::Command;
use xla_shape_pjrt::Plugin;
use xla_shape_pjrt::build::{Compile, Source};

const PART: &str = "XLA_SHAPE_SEARCH_TEST";

#[test]
fn the_current_directory_is_not_searched() {
    // A test with several threads cannot change its directory, so it starts itself in a new process.
    if env::var_os(PART).is_some() {
        // SAFETY: the test expects that nothing is found; if something were, it would be the fake, which is a plug-in.
        assert!(unsafe { Plugin::find() }.is_err());
        let compile = Compile::new("program.mlir", "v5e:2x2").or_checked_in("program.hlo");
        // SAFETY: as above.
        let written = unsafe { compile.write_into("out.hlo".as_ref()) }.unwrap();
        assert!(matches!(written.source, Source::CheckedIn { .. }), "{written:?}");
        return;
    }
    let itself = env::current_exe().unwrap();
    let fake = itself.with_file_name(format!("{}pjrt_fake{}", consts::DLL_PREFIX, consts::DLL_SUFFIX));
    let folder = env::temp_dir().join(format!("xla-shape-pjrt-search-{}", std::process::id()));
    for package in ["libtpu", "venv/lib/python3.12/site-packages/libtpu"] {
        fs::create_dir_all(folder.join(package)).unwrap();
        fs::copy(&fake, folder.join(package).join("libtpu.so")).unwrap();
    }
    fs::write(folder.join("contextlib.py"), "open('mark', 'w')").unwrap();
    fs::write(folder.join("program.mlir"), "module {}").unwrap();
    fs::write(folder.join("program.hlo"), "HloModule m").unwrap();
    // A Python outside any environment, if there is one.
    let path = ["/usr/bin", "/usr/local/bin"].map(std::path::Path::new);
    let path = path.iter().find(|place| place.join("python3").is_file()).map_or("", |place| place.to_str().unwrap());
    let mut command = Command::new(itself);
    command.args(["--exact", "search::the_current_directory_is_not_searched", "--nocapture"]).current_dir(&folder);
    for name in ["PJRT_PLUGIN", "TPU_LIBRARY_PATH", "CONDA_PREFIX"] {
        command.env_remove(name);
    }
    command.env(PART, "1").env("VIRTUAL_ENV", "venv").env("PYTHONPATH", &folder).env("PYTHONNOUSERSITE", "1");
    let output = command.env("PATH", format!("{path}:.:")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!folder.join("mark").exists());
    fs::remove_dir_all(folder).unwrap();
}
