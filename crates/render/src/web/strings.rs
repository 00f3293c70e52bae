//! The texts and paths in the data of a page, each stored once.

use crate::words::shortened;
use std::collections::HashMap;

/// Texts and paths, without duplicates. The empty text is number 0.
pub(crate) struct Strings {
    numbers: HashMap<String, usize>,
    pub(crate) all: Vec<String>,
    path_numbers: HashMap<Vec<usize>, usize>,
    pub(crate) paths: Vec<Vec<usize>>,
}

impl Strings {
    pub(crate) fn new() -> Self {
        Self {
            numbers: HashMap::from([(String::new(), 0)]),
            all: vec![String::new()],
            path_numbers: HashMap::new(),
            paths: Vec::new(),
        }
    }

    /// The number of a text, which is shortened to `most` characters.
    pub(crate) fn number(&mut self, text: &str, most: usize) -> usize {
        let text = shortened(text, most);
        if let Some(&number) = self.numbers.get(text.as_ref()) {
            return number;
        }
        self.all.push(text.clone().into_owned());
        self.numbers.insert(text.into_owned(), self.all.len() - 1);
        self.all.len() - 1
    }

    /// The number of a path, each part of which is shortened to `most` characters.
    pub(crate) fn path(&mut self, path: &[String], most: usize) -> usize {
        let path = path.iter().map(|part| self.number(part, most)).collect::<Vec<_>>();
        *self.path_numbers.entry(path).or_insert_with_key(|path| {
            self.paths.push(path.clone());
            self.paths.len() - 1
        })
    }
}
