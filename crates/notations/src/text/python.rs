//! Reads Python calls, such as `np.ndarray(shape=(2, 3), dtype=np.float32)`, or the arguments alone.

use crate::reader::{Reader, Result, error_at};
use alloc::vec::Vec;

/// The value of an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value<'a> {
    Numbers(Vec<i64>),
    Number(i64),
    /// A name, which may have dots, or a string.
    Name(&'a str),
}

/// An argument, and the byte at which it begins.
#[derive(Clone, Debug)]
pub(crate) struct Argument<'a> {
    pub(crate) key: &'a str,
    pub(crate) value: Value<'a>,
    pub(crate) at: usize,
}

/// A call; the callee is empty if there are only arguments.
pub(crate) struct Call<'a> {
    pub(crate) callee: &'a str,
    pub(crate) arguments: Vec<Argument<'a>>,
}

impl<'a> Call<'a> {
    /// The argument with this key, or else the one at this place among the arguments without keys.
    pub(crate) fn argument(&self, key: &str, place: Option<usize>) -> Option<&Argument<'a>> {
        let keyed = self.arguments.iter().find(|argument| argument.key == key);
        keyed.or_else(|| self.arguments.iter().filter(|argument| argument.key.is_empty()).nth(place?))
    }

    /// The function that is called, without its module.
    pub(crate) fn function(&self) -> &'a str {
        self.callee.rsplit('.').next().unwrap_or("")
    }

    /// The first word of the callee, if it names a module.
    pub(crate) fn module(&self) -> &'a str {
        self.callee.split_once('.').map_or("", |(module, _)| module)
    }

    /// Returns an error if there is an argument that the caller does not read, because it may change the layout: one whose key is not among `keys`,
    /// one without a key after the first `places`, or a second one with the same key.
    pub(crate) fn check_arguments(
        &self,
        text: &str,
        keys: &[&str],
        places: usize,
        expected: &'static str,
    ) -> Result<()> {
        let mut seen: Vec<&str> = Vec::new();
        for argument in &self.arguments {
            let is_known = match argument.key {
                "" => seen.iter().filter(|key| key.is_empty()).count() < places,
                key => keys.contains(&key) && !seen.contains(&key),
            };
            if !is_known {
                return Err(error_at(text, argument.at, expected));
            }
            seen.push(argument.key);
        }
        Ok(())
    }
}

const VALUE: &str = "a number, a list of numbers, or a name";

/// Reads a word, which may have dots.
fn name<'a>(reader: &mut Reader<'a>) -> &'a str {
    let rest = reader.rest();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
    let name = rest.get(..end).unwrap_or("");
    reader.take(name);
    name
}

fn value<'a>(reader: &mut Reader<'a>) -> Result<Value<'a>> {
    let rest = reader.rest();
    match rest.chars().next() {
        Some('(') => reader.list('(', ')', |reader| reader.signed("a number")).map(Value::Numbers),
        Some('[') => reader.list('[', ']', |reader| reader.signed("a number")).map(Value::Numbers),
        Some('-' | '0'..='9') => reader.signed(VALUE).map(Value::Number),
        Some(quote @ ('\'' | '"')) => {
            let text = rest.get(1..).and_then(|text| text.split_once(quote)).map(|(text, _)| text);
            let Some(text) = text else { return Err(reader.expected("a text that is closed")) };
            reader.character(quote)?;
            reader.take(text);
            reader.character(quote)?;
            Ok(Value::Name(text))
        }
        Some(c) if c.is_ascii_alphabetic() || c == '_' => {
            let name = name(reader);
            if !reader.is("(") {
                return Ok(Value::Name(name));
            }
            // A call as a value, such as `torch.Size([2, 3])` or `np.dtype('float32')`.
            reader.character('(')?;
            let inner = value_in(reader)?;
            reader.character(')')?;
            Ok(inner)
        }
        _ => Err(reader.expected(VALUE)),
    }
}

/// Reads an argument of a call; it is not a call itself.
fn value_in<'a>(reader: &mut Reader<'a>) -> Result<Value<'a>> {
    if reader.peek_word().starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Ok(Value::Name(name(reader)));
    }
    value(reader)
}

/// Reads a call, or the arguments of one.
pub(crate) fn call(text: &str) -> Result<Call<'_>> {
    let mut reader = Reader::new(text);
    let mut callee = "";
    let mut ahead = reader;
    let first = name(&mut ahead);
    if !first.is_empty() && ahead.is("(") {
        reader = ahead;
        callee = first;
    }
    let mut arguments = Vec::new();
    let is_call = !callee.is_empty();
    if is_call {
        reader.character('(')?;
    }
    loop {
        if is_call && reader.is(")") {
            reader.character(')')?;
            break;
        }
        let mut ahead = reader;
        let word = ahead.word();
        // Only `name=` is a key; a value may begin with a name, too, as in `dtype=np.int16`.
        let key = if !word.is_empty() && ahead.take("=") { word } else { "" };
        if !key.is_empty() {
            reader = ahead;
        }
        let at = reader.at();
        arguments.push(Argument { key, value: value(&mut reader)?, at });
        if reader.take(",") {
            continue;
        }
        if !is_call {
            break;
        }
        if !reader.is(")") {
            return Err(reader.expected("`,` or `)`"));
        }
    }
    reader.end("the end of the text")?;
    Ok(Call { callee, arguments })
}
