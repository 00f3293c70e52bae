//! Which blocks of a kernel are best, as text.

use crate::words::{Grouped, InUnits, answered_by, column_width, count, in_one_line, interrupted};
use crate::{Show, Text};
use std::collections::BTreeMap;
use xla_shape_answers::rank::{Ranking, Row, State};
use xla_shape_answers::search::words;

/// How many characters of an error are shown.
const MOST_OF_ERROR: usize = 300;

impl Show for Ranking {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        text.paragraph(verdict(self));
        if self.has_best() {
            table(self, &mut text);
            bound(self, &mut text);
        }
        others(self, &mut text);
        text.verbatim("");
        text.paragraph(made(self));
        text
    }
}

/// The best candidate.
fn verdict(ranking: &Ranking) -> String {
    let device = &ranking.device;
    let ranked = ranking.ranked().count();
    let Some(best) = ranking.ranked().next() else {
        return format!("No candidate has a time on {device}.");
    };
    let settings = ranking.settings;
    let of = match ranked {
        1 if settings > 1 => format!("Of {settings} candidates, 1 has a time on {device}"),
        _ if ranked == settings => format!("All {settings} candidates have a time on {device}"),
        _ => format!("Of {settings} candidates, {ranked} have a time on {device}"),
    };
    let limited = ranking.ranked().filter(|row| row.figures.limited_by.is_some()).count();
    let among = if limited == 0 || limited == ranked {
        String::new()
    } else {
        format!(" of the {limited} that leave little out")
    };
    let least = best.figures.least_seconds.map_or_else(String::new, |seconds| seconds.to_string());
    let limit = best.figures.limited_by.map_or_else(String::new, |limit| format!(", limited by {limit}"));
    match words(&ranking.axes, &best.setting) {
        words if words.is_empty() => format!("The kernel takes at least {least} on {device}{limit}."),
        words => format!("{of}. The least{among} is that of {words}: at least {least}{limit}."),
    }
}

/// A line for each of the best candidates.
fn table(ranking: &Ranking, text: &mut Text) {
    let shown = ranking.ranked().take(Ranking::TOP).collect::<Vec<_>>();
    text.heading("The best");
    let axes = ranking.axes.iter().filter(|axis| axis.values.len() > 1).collect::<Vec<_>>();
    let heads = ["least time", "", "bundles", "take", "copied", "takes", "limit", "spills", "relayouts", "VMEM"];
    let mut lines = vec![axes.iter().map(|axis| axis.name.clone()).chain(heads.map(str::to_owned)).collect::<Vec<_>>()];
    let best = shown.first().and_then(|row| row.figures.least_seconds);
    for row in &shown {
        let Row { setting, figures, .. } = row;
        let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "?".to_owned());
        let more = best.zip(figures.least_seconds).map(|(best, own)| {
            let more = own.seconds() / best.seconds().max(f64::MIN_POSITIVE) - 1.0;
            if more == 0.0 { String::new() } else { format!("{:+.1} %", more * 100.0) }
        });
        let cells = [
            or_unknown(figures.least_seconds.map(|seconds| seconds.to_string())),
            more.unwrap_or_default(),
            or_unknown(figures.bundles.map(|bundles| Grouped(bundles).to_string())),
            or_unknown(figures.bundle_seconds.map(|seconds| seconds.to_string())),
            or_unknown(figures.copied_bytes.map(|bytes| InUnits(bytes).to_string())),
            or_unknown(figures.copy_seconds.map(|seconds| seconds.to_string())),
            or_unknown(figures.limited_by.map(|limit| limit.to_string())),
            Grouped(figures.vector_spills).to_string(),
            Grouped(figures.moving_relayouts).to_string(),
            or_unknown(figures.vmem_bytes.map(|bytes| InUnits(bytes).to_string())),
        ];
        let values = axes.iter().map(|axis| setting.get(&axis.name).cloned().unwrap_or_default());
        lines.push(values.chain(cells).collect());
    }
    let widths = (0..lines.first().map_or(0, Vec::len))
        .map(|column| column_width(lines.iter().filter_map(|line| Some(line.get(column)?.chars().count()))))
        .collect::<Vec<_>>();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        text.verbatim(format_args!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end()));
    }
    match ranking.ranked().count() - shown.len() {
        0 => {}
        more => text.verbatim(format_args!("  … and {more} more; --format json has all")),
    }
}

/// How the times are computed, and what makes them uncertain.
fn bound(ranking: &Ranking, text: &mut Text) {
    text.paragraph("");
    if let Some((clock, bandwidth)) = ranking.clock_hz.zip(ranking.hbm_bytes_per_second) {
        text.paragraph(format_args!(
            "The least time is a bound, not a promise: a bundle in each cycle of {} GHz, copies at {} GB/s, and all copies except the first and the \
             last ones while the kernel works. It leaves out waits, the time until a copy begins, and what XLA computes around the kernels. Spills and \
             relayouts are among the bundles. Candidates whose limit is ? come last: a note says what is not known.",
            clock as f64 / 1e9,
            Grouped(bandwidth / 1_000_000_000)
        ));
    }
    // Each note, with the candidates that have it.
    let mut notes = BTreeMap::<&str, Vec<String>>::new();
    for row in ranking.ranked().take(Ranking::TOP) {
        for note in &row.figures.notes {
            notes.entry(note).or_default().push(words(&ranking.axes, &row.setting));
        }
    }
    for (note, words) in notes {
        match words.join("; ") {
            words if words.is_empty() => text.paragraph(format_args!("Note: {note}.")),
            words => text.paragraph(format_args!("Note on {words}: {note}.")),
        }
    }
}

/// The candidates without a time, grouped by the reason.
fn others(ranking: &Ranking, text: &mut Text) {
    for (state, what) in [
        (State::NotAllowed, "not compiled, because a TPU does not take the blocks"),
        (State::TooLarge, "not compiled, because the blocks are too large"),
        (State::Missing, "without a program"),
        (State::Refused, "refused by the compiler"),
        (State::Unknown, "without a time"),
    ] {
        let of_state = ranking.rows.iter().filter(|row| row.state == state).collect::<Vec<_>>();
        let Some(first) = of_state.first() else { continue };
        let error = first.error.as_deref().unwrap_or_default();
        let such = match (of_state.len(), words(&ranking.axes, &first.setting)) {
            (_, words) if words.is_empty() => String::new(),
            (1, words) => format!(" ({words})"),
            (_, words) => format!(", such as {words}"),
        };
        text.paragraph(format_args!(
            "{} {what}{such}: {}",
            count(of_state.len() as u64, "candidate", "candidates"),
            in_one_line(error, MOST_OF_ERROR)
        ));
    }
}

/// How many candidates were compiled, and by which compiler.
fn made(ranking: &Ranking) -> String {
    let pruned = |row: &&Row| matches!(row.state, State::NotAllowed | State::TooLarge | State::Missing);
    let compiled = ranking.rows.len() - ranking.rows.iter().filter(pruned).count();
    let candidates = count(ranking.settings as u64, "candidate", "candidates");
    let cut = if ranking.search.cut { format!(" {}", interrupted(&ranking.search)) } else { String::new() };
    format!("{compiled} of {candidates} compiled{}.{cut}", answered_by(&ranking.search))
}

#[cfg(test)]
mod tests {
    use crate::Show;
    use xla_shape_answers::cost::Seconds;
    use xla_shape_answers::rank::{Figures, Limit, Ranking, State, Tried};
    use xla_shape_answers::search::Axis;

    fn ranking(made: Vec<Result<Figures, (State, &str)>>) -> Ranking {
        let blocks = (0..made.len()).map(|number| (128 << number).to_string());
        let axes = vec![Axis::new("bm", blocks), Axis::new("x", ["1"])];
        let tried = made.into_iter().enumerate().map(|(at, made)| Tried {
            at: vec![at, 0],
            made: made.map_err(|(state, error)| (state, error.to_owned())),
        });
        let (clock_hz, hbm_bytes_per_second) = (Some(1_750_000_000), Some(1_640_000_000_000));
        Ranking { clock_hz, hbm_bytes_per_second, ..Ranking::new("v6e:2x2", axes, tried.collect()) }
    }

    fn figures(microseconds: u64, limit: Limit) -> Figures {
        let time = |microseconds: u64| Some(Seconds::from_picoseconds(microseconds * 1_000_000));
        Figures {
            least_seconds: time(microseconds),
            limited_by: Some(limit),
            bundles: Some(131_072),
            bundle_seconds: time(75),
            copied_bytes: Some(96 << 20),
            copy_seconds: time(60),
            vector_spills: 12,
            moving_relayouts: 3,
            vmem_bytes: Some(5 << 20),
            notes: vec!["a loop whose trips are not known counts once".to_owned()],
            ..Figures::default()
        }
    }

    #[test]
    fn the_best_come_first_and_what_has_no_time_is_counted_with_a_reason() {
        let ranking = ranking(vec![
            Ok(figures(100, Limit::Copies)),
            Ok(figures(80, Limit::Bundles)),
            Err((State::NotAllowed, "input 1: dimension 0 is 100 long")),
            Err((State::TooLarge, "its blocks need 48.0 MiB of VMEM, and a kernel may use 32.0 MiB")),
            Err((State::Refused, "unsupported:\n  shape cast")),
            Err((State::Refused, "unsupported")),
        ]);
        let text = ranking.text(160).to_string();
        for line in [
            "Of 6 candidates, 2 have a time on v6e:2x2. The least is that of bm 256: at least 80.0 µs, limited by bundles.",
            "   bm  least time           bundles     take  copied    takes    limit  spills  relayouts   VMEM",
            "  256     80.0 µs           131,072  75.0 µs  96 MiB  60.0 µs  bundles      12          3  5 MiB",
            "  128      100 µs  +25.0 %  131,072  75.0 µs  96 MiB  60.0 µs   copies      12          3  5 MiB",
            "a bundle in each cycle of 1.75 GHz, copies at 1,640 GB/s",
            "Note on bm 256; bm 128: a loop whose trips are not known counts once.",
            "1 candidate not compiled, because a TPU does not take the blocks (bm 512): input 1: dimension 0 is 100 long",
            "1 candidate not compiled, because the blocks are too large (bm 1024): its blocks need 48.0 MiB of VMEM",
            "2 candidates refused by the compiler, such as bm 2048: unsupported: shape cast",
            "4 of 6 candidates compiled.",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn without_a_time_there_is_no_table() {
        let text = ranking(vec![Err((State::Missing, "no such block"))]).text(100).to_string();
        assert!(text.starts_with("No candidate has a time on v6e:2x2.\n"), "{text}");
        assert!(text.contains("1 candidate without a program: no such block"), "{text}");
        assert!(!text.contains("bound"), "{text}");
        let one = ranking(vec![Ok(figures(7, Limit::Copies))]).text(100).to_string();
        assert!(one.starts_with("The kernel takes at least 7.00 µs on v6e:2x2, limited by copies."), "{one}");
    }
}
