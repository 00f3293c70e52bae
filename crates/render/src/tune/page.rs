//! The best layouts as an HTML page.

use super::Tuning;
use super::advice::Advice;
use super::text::CHANGES_SHOWN;
use crate::web::{cell, end, escape, page_of_tables, push, table};
use crate::words::{Grouped, InUnits, Signed, difference, shortened};

impl Tuning {
    /// The answer as an HTML page: the best layouts, what they gain in each program and why, what to write, and all layouts that were
    /// tried. The page has no external resources.
    ///
    /// ```
    /// # use xla_shape_core::tpu::Generation;
    /// # use xla_shape_hlo::Module;
    /// # use xla_shape_render::cost::{Place, ProgramCost};
    /// # use xla_shape_render::tune::{Ask, Measured, Options, Program, SharedArray, Tuning};
    /// # let text = r#"HloModule m
    /// # ENTRY main { a = f32[256,128]{1,0:T(8,128)} parameter(0)
    /// #   ROOT b = f32[256,128]{1,0:T(8,128)} negate(a), backend_config={"window_config":{"estimated_cycles":"9"}} }"#;
    /// # let module = Module::parse(text)?;
    /// # let shapes = ["f32[256,128]{1,0:T(8,128)}".parse()?];
    /// # let today = Measured::new(&ProgramCost::new(&module)?, &shapes, &shapes, 8192);
    /// # let programs = [Program { name: "a.mlir".into(), weight: 1 }];
    /// # let arrays = [SharedArray::new("x", vec![(0, Place::Parameter(0, vec![]))], &programs, &[today.clone()])?];
    /// # let options = Options { generation: Generation::V5e, all: false, tilings: false, at_most_bytes: None, most: None };
    /// # let mut compiler = |asks: &[(usize, Ask)]| asks.iter().map(|_| Some(Ok(today.clone()))).collect();
    /// let tuning = Tuning::search(&arrays, &programs, &options, &mut compiler)?;
    /// assert!(tuning.html().starts_with("<!doctype html>") && tuning.html().contains("x should stay {1,0:T(8,128)}"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn html(&self) -> String {
        let names = self.arrays.iter().map(|array| array.name.as_str()).collect::<Vec<_>>().join(", ");
        let title = format!("Layouts of {}", shortened(&names, 200));
        let mut body = "<div id=\"summary\">\n".to_owned();
        for sentence in self.answer() {
            push(&mut body, format_args!("<p>{}</p>\n", cell(&sentence)));
        }
        body.push_str("</div>\n");
        for note in &self.notes {
            push(&mut body, format_args!("<p class=\"hint\">{}</p>\n", cell(note)));
        }
        self.push_gains(&mut body);
        self.push_code(&mut body);
        match &self.advice {
            Some(advice) => push_advice(&mut body, advice),
            None => self.push_tried(&mut body),
        }
        self.push_arrays(&mut body);
        push(&mut body, format_args!("<p class=\"hint\">{}</p>\n", cell(&self.made())));
        page_of_tables(&title, &body)
    }

    /// What changes in each program.
    fn push_gains(&self, body: &mut String) {
        let Some(best) = self.changed() else { return };
        let rows = best.cost.programs.iter().zip(&self.today.cost.programs).map(|(program, today)| {
            let cycles = |cycles: Option<u64>| match cycles {
                _ if self.moved => "not compared".to_owned(),
                Some(cycles) => Grouped(cycles).to_string(),
                None => "not known".to_owned(),
            };
            let list = |word: &str, copies: &[String]| {
                copies.iter().take(CHANGES_SHOWN).map(|copy| format!("{word}: {copy}")).collect::<Vec<_>>()
            };
            [
                cycles(today.cycles),
                cycles(program.cycles),
                Signed(difference(today.bytes, program.bytes)).to_string(),
                format!("{} → {}", today.copies, program.copies),
                program.program.clone(),
                [list("gone", &program.gone), list("new", &program.new)].concat().join("; "),
            ]
        });
        let columns = ["Cycles today", "Cycles", "HBM", "Copies", "Program", "Copies that change a layout"];
        table(body, "programs", "Compared with today", columns, 4, rows);
    }

    fn push_code(&self, body: &mut String) {
        if self.changed().is_none() {
            return;
        }
        body.push_str("<section id=\"code\">\n<h2>To write</h2>\n");
        for array in &self.arrays {
            let Some(write) = &array.write else { continue };
            push(body, format_args!("<p>{}</p>\n<pre tabindex=\"0\">", cell(&array.name)));
            for (tool, code) in write.lines() {
                push(body, format_args!("{tool:<5}  {}\n", escape(code)));
            }
            body.push_str("</pre>\n");
        }
        end(body, 0);
    }

    fn push_tried(&self, body: &mut String) {
        let number = |number: Option<String>| number.unwrap_or_default();
        let rows = self.sorted().into_iter().map(|entry| {
            let problem = self.problem(entry);
            let taken = problem.is_none();
            [
                number(entry.cost.cycles.filter(|_| taken).map(|cycles| Grouped(cycles).to_string())),
                number(entry.cost.bytes.filter(|_| taken).map(|bytes| InUnits(bytes).to_string())),
                number(entry.cost.copies.filter(|_| taken).map(|copies| copies.to_string())),
                entry.choice(),
                problem.unwrap_or_else(|| entry.because.to_owned()),
            ]
        });
        table(body, "tried", "Tried", ["Cycles", "HBM", "Copies", "Layouts", "Why"], 3, rows);
    }

    fn push_arrays(&self, body: &mut String) {
        let rows = self.arrays.iter().map(|array| {
            let preferred = array.preferred.iter().map(|one| format!("{} by {}", one.layout, one.program));
            [
                array.layouts.to_string(),
                format!("{}: {}", array.name, array.shape),
                array.places.join(", "),
                preferred.collect::<Vec<_>>().join(", "),
            ]
        });
        let columns = ["Layouts", "Array", "Places", "Preferred"];
        table(body, "arrays", "Shared arrays", columns, 1, rows);
    }
}

/// What compiled modules say about each array.
fn push_advice(body: &mut String, advice: &[Advice]) {
    let places = advice.iter().flat_map(|array| array.places().map(|place| [array.array.clone(), place]));
    table(body, "places", "Places", ["Array", "Layout today"], 0, places.collect::<Vec<_>>().into_iter());
    let copies = advice.iter().flat_map(|array| {
        array.copies.iter().map(|copy| {
            [
                copy.cycles.map_or_else(String::new, |cycles| Grouped(cycles).to_string()),
                format!("{}: %{} of {}", array.array, copy.instruction, copy.program),
                format!("{} → {}", copy.from, copy.to),
                copy.cause.clone(),
                copy.remedy.clone().unwrap_or_default(),
            ]
        })
    });
    table(
        body,
        "copies",
        "Copies",
        ["Cycles", "Copy", "Change", "Cause", "Remedy"],
        1,
        copies.collect::<Vec<_>>().into_iter(),
    );
}
