//! `xla-shape draw`, run as a program.

use assert_cmd::Command;
use std::fs;
use std::process::Output;

fn draw(arguments: &[&str]) -> Output {
    Command::cargo_bin("xla-shape").unwrap().arg("draw").args(arguments).output().unwrap()
}

#[test]
fn the_documented_example_as_text() {
    let expected = "\
f32[3,5]{1,0:T(2,2)}

The position of each element:

        x=0   x=1   x=2   x=3   x=4   x=5
  y=0     0     1 │   4     5 │   8   ░░░
  y=1     2     3 │   6     7 │  10   ░░░
        ─────────────────────────────────
  y=2    12    13 │  16    17 │  20   ░░░
  y=3   ░░░   ░░░   ░░░   ░░░   ░░░   ░░░

The element at each position, in the order of memory (░ is padding):

   0:  0,0  0,1  1,0  1,1  0,2  0,3  1,2  1,3
   8:  0,4  ░░░  1,4  ░░░  2,0  2,1  ░░░  ░░░
  16:  2,2  2,3  ░░░  ░░░  2,4  ░░░  ░░░  ░░░
";
    let output = draw(&["f32[3,5]{1,0:T(2,2)}"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn files_are_written_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (svg, html) = (folder.path().join("a.svg"), folder.path().join("a.html"));
    fs::write(&svg, "before").unwrap();
    let shape = "bf16[100,300]{1,0:T(8,128)(2,1)}";
    let output = draw(&[shape, "--svg", svg.to_str().unwrap(), "--html", html.to_str().unwrap()]);
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
    let (svg, html) = (fs::read_to_string(svg).unwrap(), fs::read_to_string(html).unwrap());
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n") && html.contains(&svg));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
    let to_output = draw(&[shape, "--svg", "-"]);
    assert_eq!(String::from_utf8(to_output.stdout).unwrap(), svg);
}

#[test]
fn nothing_is_written_for_a_bad_shape() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.svg");
    for shape in ["f32[3", "f32[?]", "token[]"] {
        assert_eq!(draw(&[shape, "--svg", path.to_str().unwrap()]).status.code(), Some(1), "{shape}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let output = draw(&["f32[3]", "--html", folder.path().join("no/such/folder.html").to_str().unwrap()]);
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: cannot write `"));
    assert_eq!(output.status.code(), Some(1));
}
