//! `xla-shape draw`, run as a program.

use crate::program::Command;
use serde_json::{Value, json};
use std::fs;
use std::process::Output;

fn draw(arguments: &[&str]) -> Output {
    Command::program().env_remove("COLUMNS").arg("draw").args(arguments).output().unwrap()
}

#[test]
fn the_documented_example_as_text() {
    let expected = "\
f32[3,5]{1,0:T(2,2)}

The position of each element:

   d1=    0    1    2    3    4    5
  d0=0    0    1 │  4    5 │  8   ░░
  d0=1    2    3 │  6    7 │ 10   ░░
         ───────────────────────────
  d0=2   12   13 │ 16   17 │ 20   ░░
  d0=3   ░░   ░░   ░░   ░░   ░░   ░░

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
fn files_are_complete() {
    let folder = tempfile::tempdir().unwrap();
    let (svg, html) = (folder.path().join("a.svg"), folder.path().join("a.html"));
    fs::write(&svg, "before").unwrap();
    let shape = "bf16[100,300]{1,0:T(8,128)(2,1)}";
    let output = draw(&[shape, "--svg", svg.to_str().unwrap(), "--html", html.to_str().unwrap()]);
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
    let (svg, html) = (fs::read_to_string(svg).unwrap(), fs::read_to_string(html).unwrap());
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    assert!(html.contains("data-p=\"38404\"") == svg.contains("data-p=\"38404\""), "both show the same window");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
    let to_output = draw(&[shape, "--svg", "-"]);
    assert_eq!(String::from_utf8(to_output.stdout).unwrap(), svg);
}

#[test]
fn json_has_every_cell_that_is_shown() {
    let shape = "f32[3,5]{1,0:T(2,2)}";
    let answer = serde_json::from_slice::<Value>(&draw(&[shape, "--format", "json"]).stdout).unwrap();
    assert_eq!((&answer["shape"], &answer["positions"], &answer["all_planes"]), (&json!(shape), &json!(24), &json!(1)));
    let plane = &answer["planes"][0];
    assert_eq!(
        (&plane["row"], &plane["column"], &plane["cells"][1]),
        (&json!("d0"), &json!("d1"), &json!([2, 3, 6, 7, 10, 11]))
    );
    let place = |position: usize| &answer["memory"][0][position];
    assert_eq!(
        place(17),
        &json!({"position": 17, "index": [2, 3], "byte_offset": 68, "bit_offset": 0, "tile": [1, 1]})
    );
    assert_eq!((&place(9)["index"], &place(9)["byte_offset"]), (&json!(null), &json!(36)));
    let both = draw(&[shape, "--svg", "-", "--format", "json"]);
    assert_eq!((both.status.code(), both.stdout.len()), (Some(2), 0));
}

#[test]
fn lines_fit_the_terminal() {
    for shape in ["bf16[100,300]{1,0:T(8,128)(2,1)}", "bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}", "u8[7]"] {
        for columns in [40, 60, 80] {
            let output = Command::program().env("COLUMNS", columns.to_string()).args(["draw", shape]).output();
            let text = String::from_utf8(output.unwrap().stdout).unwrap();
            let widest = text.lines().filter(|line| line.starts_with(' ')).map(|line| line.chars().count()).max();
            assert!(widest <= Some(columns), "{columns}:\n{text}");
        }
    }
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
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: cannot write `") && !said.contains(".xla-shape-"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_registers_of_a_vector() {
    let output = draw(&["f32[8,300]", "--vector", "32,{3,0},(8,128)"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("f32[8,300] in 32,{3,0},(8,128): 6 registers\n\nregister 0 at (0,0)\n  sublane 0  ░\n"),
        "{text}"
    );
    assert!(text.contains("register 5 at (1,2)\n  sublane 0  lanes 0:44 [5,256:300]; lanes 44:128 ░\n"), "{text}");
    let picture = draw(&["f32[8,300]", "--vector", "32,{3,0},(8,128)", "--svg", "-"]).stdout;
    assert!(String::from_utf8(picture).unwrap().contains(">[0,0:128]</text>"));
    let page = draw(&["bf16[8,300]", "--vector", "16,{0,0},(16,128)", "--html", "-"]).stdout;
    assert!(String::from_utf8(page).unwrap().starts_with("<!doctype html>"));
    for (layout, message) in [
        ("16,{3,0},(16,128)", "expected a vector layout of 32 bits, as f32 has, found 16"),
        ("32,{3,0}", "expected `,`"),
    ] {
        let output = draw(&["f32[8,300]", "--vector", layout]);
        assert_eq!(output.status.code(), Some(1));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(message), "{errors}");
    }
    let both = draw(&["f32[8]", "--vector", "32,{0,0},(8,128),-2", "--sharding", "{replicated}"]);
    assert_eq!(both.status.code(), Some(2));
}

/// Each picture and each page is readable on a dark background: white areas become dark, and text outside cells becomes light.
#[test]
fn pictures_have_a_dark_form() {
    for kind in [
        &["f32[5,7]{1,0:T(2,4)}"][..],
        &["f32[64]", "--sharding", "{devices=[4]<=[4]}"],
        &["f32[8,300]", "--vector", "32,{3,0},(8,128)"],
    ] {
        for form in ["--svg", "--html"] {
            let output = draw(&[kind, &[form, "-"]].concat()).stdout;
            let picture = String::from_utf8(output).unwrap();
            // A page also has a button for dark colours, so its drawings do not follow the system by themselves.
            let by_system = picture.contains("@media (prefers-color-scheme:dark)");
            assert_eq!(by_system, form == "--svg", "{kind:?} {form}");
            assert_eq!(picture.contains("light-dark("), form == "--html", "{kind:?} {form}");
            for element in picture.split('<').filter(|element| element.contains("fill=\"#fff\"")) {
                assert!(element.contains("class=\"back\""), "{kind:?} {form}: <{element}");
            }
            if form == "--svg" {
                let is_title = |element: &str| element.starts_with("text ") && element.contains("class=\"title\"");
                assert!(picture.split('<').any(is_title), "{kind:?}");
            }
        }
    }
}

/// Several drawings can stand in one document: no id occurs in two of them.
#[test]
fn ids_of_drawings_differ() {
    let ids = |arguments: &[&str]| {
        let picture = String::from_utf8(draw(&[arguments, &["--svg", "-"]].concat()).stdout).unwrap();
        let ids: Vec<_> =
            picture.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
        assert!(picture.contains(&format!("url(#{})", ids[1])), "{arguments:?}: {ids:?}");
        ids
    };
    let all = [
        ids(&["f32[5,7]{1,0:T(2,4)}"]),
        ids(&["f32[5,7]{0,1:T(2,4)}"]),
        ids(&["f32[5,7]", "--vector", "32,{0,0},(8,128)"]),
    ]
    .concat();
    let mut different = all.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), all.len(), "{all:?}");
}
