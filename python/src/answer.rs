//! The class of answers: what the program would print, as text, data or picture.

use crate::error::shape_error;
use crate::number::Number;
use crate::room::Text;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Arc;
use xla_shape_render::{Show, escape};

/// Renders an answer as text with lines of this width.
type Lines = Box<dyn Fn(usize) -> String + Send + Sync>;
/// Renders an answer as a picture, a page or a digest.
type Picture = Box<dyn Fn() -> String + Send + Sync>;

/// The default width of a text.
const WIDTH: usize = 100;

/// An answer: `str()` is the text that the program prints, `data` its JSON as Python values; a notebook shows the picture or page.
///
/// `answer[key]`, `len(answer)` and iteration apply to `data`. `bool()` is False if the answer is no, and raises a `ShapeError` if the answer is not
/// known.
#[pyclass(frozen, module = "xla_shape")]
pub(crate) struct Answer {
    json: String,
    text: Lines,
    digest: Picture,
    svg: Option<Picture>,
    html: Option<Picture>,
    /// The value of `bool()`, or the reason why it is unknown.
    verdict: Result<bool, String>,
    /// Whether the answer is a list, whose JSON has one line for each entry.
    is_list: bool,
}

impl Answer {
    pub(crate) fn new(answer: impl Show + Send + Sync + 'static) -> Self {
        let json = answer.json();
        let answer = Arc::new(answer);
        let same = Arc::clone(&answer);
        let text: Lines = Box::new(move |width| answer.text(width).to_string());
        let digest: Picture = Box::new(move || same.brief(&[]).to_string());
        Self { json, text, digest, svg: None, html: None, verdict: Ok(true), is_list: false }
    }

    pub(crate) fn with_svg(self, picture: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self { svg: Some(Box::new(picture)), ..self }
    }

    pub(crate) fn with_html(self, page: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self { html: Some(Box::new(page)), ..self }
    }

    pub(crate) fn list(self) -> Self {
        Self { is_list: true, ..self }
    }

    pub(crate) fn judged(self, verdict: Result<bool, String>) -> Self {
        Self { verdict, ..self }
    }
}

#[pymethods]
impl Answer {
    /// The answer as a `dict`, or as a `list` of `dict`s.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let loads = py.import("json")?.getattr("loads")?;
        if !self.is_list {
            return loads.call1((self.json(),));
        }
        let entries = self.json.lines().map(|line| loads.call1((Text(line),))).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, entries)?.into_any())
    }

    /// The answer as JSON. For a list, each entry is on a line of its own.
    #[getter]
    fn json(&self) -> Text<&str> {
        Text(&self.json)
    }

    /// The answer as text, in lines of at most this width.
    #[pyo3(signature = (width=Number(WIDTH)), text_signature = "($self, width=100)")]
    fn text(&self, width: Number<usize>) -> Text<String> {
        Text((self.text)(width.0))
    }

    /// The answer in at most 30 lines: its main statement, the largest causes with their source lines and remedies, and what to ask next.
    fn digest(&self) -> Text<String> {
        Text((self.digest)())
    }

    /// The picture, if there is one.
    fn svg(&self) -> Option<Text<String>> {
        self.svg.as_ref().map(|svg| Text(svg()))
    }

    /// The page, if there is one; it is self-contained.
    fn html(&self) -> Option<Text<String>> {
        self.html.as_ref().map(|html| Text(html()))
    }

    fn _repr_svg_(&self) -> Option<Text<String>> {
        self.svg()
    }

    pub(crate) fn _repr_html_(&self, py: Python<'_>) -> PyResult<Text<String>> {
        match &self.html {
            Some(html) => framed(py, &html()),
            None => Ok(Text(format!("<pre>{}</pre>", escape(&self.__str__().0)))),
        }
    }

    fn __str__(&self) -> Text<String> {
        let mut text = (self.text)(WIDTH);
        text.truncate(text.trim_end().len());
        Text(text)
    }

    fn __repr__(&self) -> Text<String> {
        self.__str__()
    }

    fn __bool__(&self) -> PyResult<bool> {
        self.verdict.clone().map_err(shape_error)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.data(py)?.get_item(key)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.data(py)?.try_iter()?.into_any())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.data(py)?.len()
    }
}

/// A page inside a notebook, isolated from the notebook's own styles and scripts. The notebook keeps it compressed, in a quarter of the bytes; a
/// script of one line decompresses it, as all browsers since 2023 can.
pub(crate) fn framed(py: Python<'_>, page: &str) -> PyResult<Text<String>> {
    const LEVEL: i32 = 9;
    let bytes = py.import("zlib")?.call_method1("compress", (page.as_bytes(), LEVEL))?;
    let text = py.import("base64")?.call_method1("b64encode", (bytes,))?.extract::<Vec<u8>>()?;
    let text = String::from_utf8_lossy(&text);
    let script = format!(
        "<!doctype html><script>const b=Uint8Array.from(atob('{text}'),c=>c.charCodeAt(0));\
         new Response(new Blob([b]).stream().pipeThrough(new DecompressionStream('deflate'))).text().then(page=>{{\
         document.open();document.write(page);document.close();const frame=window.frameElement;\
         if(frame)setTimeout(()=>frame.style.height=Math.min(900,document.documentElement.scrollHeight+24)+'px',50)}})</script>"
    );
    let script = escape(&script);
    Ok(Text(format!(
        "<iframe srcdoc=\"{script}\" style=\"width:100%;height:480px;border:1px solid #ccc;background:#fff\" title=\"xla-shape\"></iframe>"
    )))
}
