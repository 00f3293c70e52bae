//! Reads a file of claims, checks it for contradictions, and writes it.

use super::bound::Bound;
use super::claim::{Claim, Field, Operation, Role, Tables};
use std::error::Error;
use std::fmt;
use xla_shape_hlo::Opcode;

/// The claims of a file, in their order.
///
/// ```
/// use xla_shape_answers::guard::claims::Claims;
///
/// let text = "[[loops]]\ntrips = 12\ncount = 1\n";
/// let claims: Claims = Claims::parse(text)?;
/// assert_eq!(claims.to_string(), text);
/// let error = Claims::parse("[[loops]]\ntrip = 12\n").unwrap_err();
/// assert_eq!(error.to_string(), "line 2, column 1: unknown field `trip`, expected one of `trips`, `scope`, `line`, `count`");
/// # Ok::<(), xla_shape_answers::guard::claims::ClaimsError>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Claims {
    /// Each claim with the line of its table, from 1.
    claims: Vec<(usize, Claim)>,
}

/// The most claims in a file. There is a limit because each is compared with all others.
const MOST_CLAIMS: usize = 1000;

/// Why a text is not a file of claims.
///
/// ```
/// use xla_shape_answers::guard::claims::{Claims, ClaimsError};
///
/// let error: ClaimsError = Claims::parse("[[loops]]\ntrips = 'many'\n").unwrap_err();
/// assert_eq!((error.line, error.column, error.offset), (2, 9, 18));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimsError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The byte in the text, from 0.
    pub offset: usize,
    /// What is wrong, as a sentence without a full stop.
    pub message: String,
}

impl fmt::Display for ClaimsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl Error for ClaimsError {}

impl ClaimsError {
    fn new(text: &str, place: usize, message: String) -> Self {
        let before = text.get(..place).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self { line: line_at(text, place), column: line.chars().count() + 1, offset: place, message }
    }
}

/// The line of a place in a text, from 1.
fn line_at(text: &str, place: usize) -> usize {
    text.bytes().take(place).filter(|byte| *byte == b'\n').count() + 1
}

impl Claims {
    /// Reads a file of claims.
    ///
    /// # Errors
    /// If it is not TOML, if it has no claims, if a table, a field or a value is unknown, if a claim says nothing, or if two claims cannot both hold.
    pub fn parse(text: &str) -> Result<Self, ClaimsError> {
        let tables: Tables = toml::from_str(text).map_err(|error| {
            let place = error.span().map_or(0, |span| span.start);
            let mut message = error.message().trim().replace('\n', "; ");
            if message.ends_with("expected a sequence") {
                message += "; each claim is a table in two pairs of brackets, such as [[copies]]";
            }
            ClaimsError::new(text, place, message)
        })?;
        let found = tables.claims();
        // A file without claims must not pass, because it may have been cut off or never written.
        if found.is_empty() {
            let message = "the file has no claims; each is a table in two pairs of brackets, such as [[copies]]";
            return Err(ClaimsError::new(text, text.len(), message.to_owned()));
        }
        if let Some((place, _)) = found.get(MOST_CLAIMS) {
            return Err(ClaimsError::new(text, *place, format!("expected at most {MOST_CLAIMS} claims")));
        }
        for (place, claim) in &found {
            claim.check().map_err(|message| ClaimsError::new(text, *place, message))?;
        }
        for (number, (place, claim)) in found.iter().enumerate() {
            for (other_place, other) in found.iter().take(number) {
                let contradiction = claim.contradiction(other).or_else(|| other.contradiction(claim));
                if let Some(field) = contradiction {
                    let line = line_at(text, *other_place);
                    let message = format!("this and the claim in line {line} contradict each other: {field}");
                    return Err(ClaimsError::new(text, *place, message));
                }
            }
        }
        Ok(Self { claims: found.into_iter().map(|(place, claim)| (line_at(text, place), claim)).collect() })
    }

    /// The claims, each with the line of its table in the file, from 1.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, &Claim)> {
        self.claims.iter().map(|(line, claim)| (*line, claim))
    }
}

impl FromIterator<Claim> for Claims {
    /// Gives each claim the line number that it has in the file that [`Display`](fmt::Display) writes.
    fn from_iter<T: IntoIterator<Item = Claim>>(claims: T) -> Self {
        let mut line = 1;
        let numbered = claims.into_iter().map(|claim| {
            let begin = line;
            line += claim.fields().len() + 2;
            (begin, claim)
        });
        Self { claims: numbered.collect() }
    }
}

impl fmt::Display for Claims {
    /// The file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (_, claim)) in self.claims.iter().enumerate() {
            writeln!(f, "{}[[{}]]", if number == 0 { "" } else { "\n" }, claim.table())?;
            for field in claim.fields() {
                writeln!(f, "{} = {}", field.name, field.value())?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Claim {
    /// The claim on one line, such as `custom_calls: name = "k", count = 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<_> = self.fields().iter().map(|field| format!("{} = {}", field.name, field.value())).collect();
        write!(f, "{}: {}", self.table(), fields.join(", "))
    }
}

impl Field {
    /// The value as TOML. A string of JSON, with control characters escaped, is one of TOML.
    fn value(&self) -> String {
        let is_bare = self.text.parse::<i64>().is_ok_and(|number| number.to_string() == self.text)
            || matches!(self.text.as_str(), "true" | "false");
        if is_bare { self.text.clone() } else { crate::json_line(&self.text).trim_end().to_owned() }
    }
}

impl Claim {
    /// Returns an error if the claim can never be checked.
    fn check(&self) -> Result<(), String> {
        if let Self::Collectives(claim) = self
            && let Some(opcode) = claim.opcode
        {
            // An asynchronous collective is named by its operation, not by its start.
            let all =
                Opcode::ALL.iter().filter(|opcode| opcode.is_collective() && Operation::started(**opcode) == **opcode);
            let all: Vec<_> = all.map(|opcode| opcode.text()).collect();
            if !all.contains(&opcode.0.text()) {
                return Err(format!("`{opcode}` is not a collective; these are: {}", all.join(", ")));
            }
        }
        if let Self::Fused(claim) = self {
            return if claim.scope.is_some() { Ok(()) } else { Err("expected a scope".to_owned()) };
        }
        if self.is_of_nothing_with_bytes(self) {
            return Err("count = 0 and bytes above 0 cannot both hold".to_owned());
        }
        let fields = self.fields();
        if fields.iter().any(|field| field.role != Role::Selects) {
            return Ok(());
        }
        let says = match self {
            Self::Arguments(_) | Self::Results(_) => "element_type, layout, memory or aliased",
            Self::Program(_) => "a bound, such as temporaries = \"<=2GiB\"",
            Self::Arrays(_) | Self::Copies(_) | Self::Collectives(_) => "count or bytes",
            Self::Instructions(_) | Self::CustomCalls(_) | Self::Loops(_) | Self::Fused(_) => "count",
        };
        Err(format!("the claim says nothing: expected {says}"))
    }

    /// The numbers that a field allows, if the claim has it.
    fn bound(&self, name: &str) -> Option<Bound> {
        self.fields().iter().find(|field| field.name == name)?.role.bound()
    }

    /// Whether this claim allows none of the things, and the other claim requires them to have more than 0 bytes.
    fn is_of_nothing_with_bytes(&self, other: &Self) -> bool {
        self.bound("count").is_some_and(|count| count.most == 0)
            && other.bound("bytes").is_some_and(|bytes| bytes.least > 0)
    }

    /// The name of a field that cannot be true in both claims; `None` unless the things of the other claim include those of this one.
    fn contradiction(&self, other: &Self) -> Option<&'static str> {
        if self.table() != other.table() {
            return None;
        }
        let (fields, others) = (self.fields(), other.fields());
        let field = |name: &str| fields.iter().find(|field| field.name == name);
        let selects = |field: &&Field| field.role == Role::Selects;
        let is_part =
            others.iter().filter(selects).all(|other| field(other.name).is_some_and(|own| own.text == other.text));
        // A scope or a line may select nothing. So if a field must hold for each thing, only claims about exactly the same things can contradict
        // each other.
        let is_same = is_part && fields.iter().filter(selects).count() == others.iter().filter(selects).count();
        let differs = |other: &&Field| {
            field(other.name).is_some_and(|own| match own.role.bound().zip(other.role.bound()) {
                Some((own, other)) => own.least > other.most || (is_same && own.most < other.least),
                None => own.role == Role::Says && is_same && own.text != other.text,
            })
        };
        let of_nothing = || (is_part && other.is_of_nothing_with_bytes(self)).then_some("bytes");
        others.iter().filter(|_| is_part).find(differs).map(|field| field.name).or_else(of_nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::Claims;

    #[test]
    fn mistakes_have_their_place() {
        for (text, error) in [
            ("[[copys]]\ncount = 0", "line 1, column 3: unknown field `copys`, expected one of `program`, `arrays`"),
            ("[[copies]]\nlines = 'a.py'", "line 2, column 1: unknown field `lines`, expected one of `size`, `scope`"),
            (
                "[copies]\ncount = 0",
                "line 1, column 1: invalid type: map, expected a sequence; each claim is a table in two",
            ),
            ("[[copies]]\ncount = 'few'", "line 2, column 9: expected a number such as 8, <=2 or >=1, found `few`"),
            ("[[copies]]\ncount = -1", "line 2, column 9: expected a number such as 8, <=2 or >=1, found `-1`"),
            ("[[copies]]\ncount = [1]", "line 2, column 9: invalid type: sequence, expected a text or a number"),
            ("[[copies]]\nline = 'a.py:3'", "line 1, column 1: the claim says nothing: expected count or bytes"),
            (
                "[[arguments]]\nnumber = 0",
                "line 1, column 1: the claim says nothing: expected element_type, layout, memory",
            ),
            ("[[fused]]\ncount = 1", "line 1, column 1: expected a scope"),
            (
                "[[copies]]\ncount = 0\nbytes = '>=1MiB'",
                "line 1, column 1: count = 0 and bytes above 0 cannot both hold",
            ),
            (
                "[[collectives]]\nopcode = 'all-gather'\ncount = 0\nbytes = '>=1MiB'",
                "line 1, column 1: count = 0 and bytes above 0 cannot both hold",
            ),
            (
                "[[collectives]]\nopcode = 'all-gather'",
                "line 1, column 1: the claim says nothing: expected count or bytes",
            ),
            (
                "[[collectives]]\nopcode = 'add'\ncount = 0",
                "line 1, column 1: `add` is not a collective; these are: all-gather",
            ),
            (
                "[[instructions]]\nopcode = 'dots'\ncount = 0",
                "line 2, column 10: expected an opcode of HLO, found `dots`; did",
            ),
            ("[[arrays]]\nelement_type = 'f33'\ncount = 0", "line 2, column 16: expected an element type, found `f33`"),
            ("[[arguments]]\nlayout = '{1,1}'", "line 2, column 10: "),
            ("[[copies]]\ncount = 0\ncount = 1", "line 3, column 1: duplicate key"),
            ("[[copies]", "line 1, column "),
            ("", "line 1, column 1: the file has no claims; each is a table in two pairs of brackets"),
            ("# copies = 0\n", "line 2, column 1: the file has no claims"),
        ] {
            let found = Claims::parse(text).expect_err(text).to_string();
            assert!(found.starts_with(error), "{text}: {found}");
        }
    }

    #[test]
    fn a_file_has_at_most_so_many_claims() {
        let error = Claims::parse(&"[[copies]]\ncount = 0\n".repeat(1001)).unwrap_err();
        assert_eq!(error.to_string(), "line 2001, column 1: expected at most 1000 claims");
    }

    #[test]
    fn contradictions_are_errors() {
        for (first, second, field) in [
            ("[[copies]]\ncount = 0", "[[copies]]\ncount = '>=1'", Some("count")),
            ("[[copies]]\ncount = '<=2'", "[[copies]]\nline = 'a.py:3'\ncount = 3", Some("count")),
            ("[[copies]]\ncount = 0", "[[copies]]\nline = 'a.py:3'\nbytes = '>=1MiB'", Some("bytes")),
            ("[[copies]]\nbytes = '>=1MiB'", "[[copies]]\nline = 'a.py:3'\ncount = 0", None),
            ("[[copies]]\ncount = 0", "[[copies]]\nbytes = '<=1MiB'", None),
            // There may be more copies in the whole program than from one line.
            ("[[copies]]\ncount = 2", "[[copies]]\nline = 'a.py:3'\ncount = 0", None),
            ("[[copies]]\ncount = 2", "[[copies]]\ncount = '>=1'", None),
            (
                "[[arguments]]\nname = 'x'\nlayout = '{0,1}'",
                "[[arguments]]\nname = 'x'\nlayout = '{1,0}'",
                Some("layout"),
            ),
            ("[[arguments]]\nname = 'x'\naliased = true", "[[arguments]]\nname = 'y'\naliased = false", None),
            ("[[program]]\nmemory = '<1GiB'", "[[program]]\ntemporaries = '<1KiB'\nmemory = '>1GiB'", Some("memory")),
        ] {
            for (first, second) in [(first, second), (second, first)] {
                let text = format!("{first}\n\n{second}\n");
                let found = Claims::parse(&text).err().map(|error| error.to_string());
                let lines = first.lines().count() + 2;
                let expected = field.map(|field| {
                    format!("line {lines}, column 1: this and the claim in line 1 contradict each other: {field}")
                });
                assert_eq!(found, expected, "{text}");
            }
        }
    }

    #[test]
    fn what_is_written_reads_the_same() {
        let text = "[[program]]\nmemory = \"<=2GiB\"\n\n[[custom_calls]]\nname = \"a \\\"b\\\"\\u007f\"\ncount = 1\n\n\
                    [[arguments]]\nname = \"params/w\"\nlayout = \"{1,2,0}\"\naliased = true\n";
        let claims = Claims::parse(text).unwrap();
        assert_eq!(claims.to_string(), text);
        assert_eq!(claims.iter().map(|(_, claim)| claim.clone()).collect::<Claims>(), claims);
        assert_eq!(
            claims.iter().nth(1).unwrap().1.to_string(),
            "custom_calls: name = \"a \\\"b\\\"\\u007f\", count = 1"
        );
    }
}
