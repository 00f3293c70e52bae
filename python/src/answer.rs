//! Answers to questions: what the program would print, as text, as data and as a picture.

use crate::number::Number;
use pyo3::prelude::*;
use pyo3::types::PyList;
use xla_shape_render::{Answer as Rendered, escape};

/// Makes a text of an answer, for lines of this width.
type Text = Box<dyn Fn(usize) -> String + Send + Sync>;
/// Makes a picture or a page of an answer.
type Picture = Box<dyn Fn() -> String + Send + Sync>;

/// The width of a text where nobody says one.
const WIDTH: usize = 100;

/// An answer: `str()` is what the program prints, `data` what it gives as JSON, a notebook shows the picture or page.
///
/// `answer[key]`, `len(answer)` and iteration are those of `data`. `bool()` is False if the answer is no.
#[pyclass(frozen, module = "xla_shape")]
pub(crate) struct Answer {
    json: String,
    text: Text,
    svg: Option<Picture>,
    html: Option<Picture>,
    /// Whether the answer is no, so that `bool()` is False.
    is_no: bool,
    /// Whether there is one line of JSON for each entry of a list.
    is_list: bool,
}

impl Answer {
    pub(crate) fn new(answer: impl Rendered + Send + Sync + 'static) -> Self {
        let json = answer.json();
        let text: Text = Box::new(move |width| answer.text(width).to_string());
        Self { json, text, svg: None, html: None, is_no: false, is_list: false }
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

    pub(crate) fn no_if(self, is_no: bool) -> Self {
        Self { is_no, ..self }
    }
}

#[pymethods]
impl Answer {
    /// The answer as `dict`, or as `list` of them.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let loads = py.import("json")?.getattr("loads")?;
        if !self.is_list {
            return loads.call1((&self.json,));
        }
        let entries = self.json.lines().map(|line| loads.call1((line,))).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, entries)?.into_any())
    }

    /// The answer as JSON; a list has a line for each entry.
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    /// The answer for people, in lines of at most this width.
    #[pyo3(signature = (width=Number(WIDTH)), text_signature = "($self, width=100)")]
    fn text(&self, width: Number<usize>) -> String {
        (self.text)(width.0)
    }

    /// The picture, if there is one.
    fn svg(&self) -> Option<String> {
        self.svg.as_ref().map(|svg| svg())
    }

    /// The page, if there is one; it needs nothing but itself.
    fn html(&self) -> Option<String> {
        self.html.as_ref().map(|html| html())
    }

    fn _repr_svg_(&self) -> Option<String> {
        (self.svg.as_ref()?)().into()
    }

    pub(crate) fn _repr_html_(&self) -> String {
        match &self.html {
            Some(html) => framed(&html()),
            None => format!("<pre>{}</pre>", escape(&self.__str__())),
        }
    }

    fn __str__(&self) -> String {
        let text = (self.text)(WIDTH);
        text.trim_end().to_owned()
    }

    fn __repr__(&self) -> String {
        self.__str__()
    }

    fn __bool__(&self) -> bool {
        !self.is_no
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

/// A page inside a notebook, apart from the notebook's own styles and scripts.
pub(crate) fn framed(page: &str) -> String {
    let page = escape(page);
    format!(
        "<iframe srcdoc=\"{page}\" style=\"width:100%;height:480px;border:1px solid #ccc;background:#fff\" \
         title=\"xla-shape\" onload=\"const root=this.contentDocument&&this.contentDocument.documentElement;\
         if(root)setTimeout(()=>this.style.height=Math.min(900,root.scrollHeight+24)+'px',50)\"></iframe>"
    )
}
