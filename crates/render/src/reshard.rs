//! What moves between devices, in words.

use crate::words::{InUnits, count};
use crate::{Show, Text};
use xla_shape_answers::reshard::{
    Along, ByXla, Collective, Division, Receiver, Resharding, Through, XlaCollective, XlaMoves,
};

/// At most this many devices are shown, and at most this many senders for each of them.
const SHOWN: usize = 16;

/// What a collective operation does.
const fn meaning(collective: Collective) -> &'static str {
    match collective {
        Collective::AllGather => "an all-gather does it: each device keeps what it has, and receives more",
        Collective::Permute => "a collective-permute does it: each device receives what one other has",
        _ => "an all-to-all does it: each device exchanges parts with others, and ends with as many elements as before",
    }
}

fn bytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "more than 2^64 bits".to_owned(), |bytes| InUnits(bytes).to_string())
}

fn verdict(answer: &Resharding) -> String {
    let Resharding { bytes_moved, bytes_kept, messages, collectives, several, .. } = answer;
    if *bytes_moved == Some(0) {
        return "Nothing moves: each device has all that it needs.".to_owned();
    }
    let messages = messages.map_or_else(|| "more than 2^64 messages".to_owned(), |n| count(n, "message", "messages"));
    let (moved, kept) = (bytes(*bytes_moved), bytes(*bytes_kept));
    let how = match (&answer.through, collectives.first(), several) {
        (Some(through), Some(_), true) => {
            let verb = if collectives.len() == 1 { "moves" } else { "move" };
            &format!("{}, which {verb} {} in all (below)", in_turn(collectives), bytes(through.bytes_moved))
        }
        (_, Some(collective), _) => meaning(*collective),
        (_, None, true) => "no single collective operation does it",
        (_, None, false) => "each device keeps a part of what it has",
    };
    format!("{moved} move between devices in {messages}, the least that must; {kept} stay. As a program: {how}.")
}

fn division(text: &mut Text, name: &str, sharding: &str, shard: &str, shard_bytes: Option<u64>) {
    text.verbatim(format_args!("{name} {sharding}"));
    text.verbatim(format_args!("     a shard is {shard}, {}", bytes(shard_bytes)));
}

/// Collective operations one after another.
fn in_turn(collectives: &[Collective]) -> String {
    collectives.iter().map(|collective| collective.as_str()).collect::<Vec<_>>().join(", then ")
}

fn through(text: &mut Text, Through { shardings, collectives, bytes_moved, .. }: &Through) {
    let following = if shardings.len() == 1 { "sharding" } else { "shardings one after another" };
    text.verbatim("");
    text.paragraph(format_args!(
        "If XLA warns of an \"Involuntary full rematerialization\" for this change, constrain the array to the following {following} in \
         between ({}; {} move between devices):",
        in_turn(collectives),
        bytes(*bytes_moved)
    ));
    text.verbatim("");
    for Division { sharding, shard, shard_bytes } in shardings {
        division(text, " via", sharding, shard, *shard_bytes);
    }
}

/// At most this many of the compiler's collectives are shown.
const SHOWN_COLLECTIVES: usize = 12;

fn by_xla(text: &mut Text, ByXla { devices, compiler, moves, through }: &ByXla, least: Option<u64>) {
    let words = compiler.iter().flat_map(|words| words.lines()).collect::<Vec<_>>().join(", ");
    let compiler = if words.is_empty() { String::new() } else { format!(" ({words})") };
    text.heading(&format!("XLA for {devices}{compiler}"));
    xla_moves(text, moves, least);
    if let Some(through) = through {
        text.paragraph("  With the constraint:");
        xla_moves(text, through, least);
    }
}

/// What XLA's program moves.
fn xla_moves(text: &mut Text, XlaMoves { collectives, bytes_moved, warns }: &XlaMoves, least: Option<u64>) {
    for XlaCollective { opcode, groups, bytes_moved, .. } in collectives.iter().take(SHOWN_COLLECTIVES) {
        let moved = bytes_moved.map_or_else(|| "?".to_owned(), |bytes| InUnits(bytes).to_string());
        text.hanging(&format!("  {opcode:<18}  {moved:>10}  "), groups.as_deref().unwrap_or(""));
    }
    if collectives.len() > SHOWN_COLLECTIVES {
        let hidden = (collectives.len() - SHOWN_COLLECTIVES) as u64;
        text.paragraph(format_args!("  … and {}", count(hidden, "other", "others")));
    }
    let moved = match (bytes_moved, least) {
        (None, _) => "how many bytes move in all of these is not known".to_owned(),
        (Some(0), _) => "nothing moves between devices".to_owned(),
        (Some(moved), Some(least @ 1..)) if *moved > least => {
            let times = *moved as f64 / least as f64;
            format!("{} move between devices, {times:.2} times the least", InUnits(*moved))
        }
        (Some(moved), _) => format!("{} move between devices", InUnits(*moved)),
    };
    text.paragraph(format_args!("  {moved}"));
    if *warns {
        text.paragraph("  XLA warns of an \"Involuntary full rematerialization\"");
    }
}

fn receiver(text: &mut Text, Receiver { device, kept_bytes, from }: &Receiver) {
    let sent = from.iter().take(SHOWN).map(|sent| format!("{} from {}", InUnits(sent.bytes), sent.device));
    let mut sent = sent.collect::<Vec<_>>().join(", ");
    if from.len() > SHOWN {
        sent += &format!(", … and from {}", count((from.len() - SHOWN) as u64, "other", "others"));
    }
    let receives = if sent.is_empty() { "receives nothing".to_owned() } else { format!("receives {sent}") };
    text.hanging(&format!("  {device:>4}  keeps {}; ", InUnits(*kept_bytes)), &receives);
}

impl Show for Resharding {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        text.paragraph(verdict(self));
        text.verbatim(format_args!("\n     {}", self.shape));
        for (name, Division { sharding, shard, shard_bytes }) in [("from", &self.before), ("  to", &self.after)] {
            division(&mut text, name, sharding, shard, *shard_bytes);
        }
        if let Some(between) = &self.through {
            through(&mut text, between);
        }
        if let Some(xla) = &self.xla {
            by_xla(&mut text, xla, self.bytes_moved);
        }
        if let Some(axes) = self.axes.as_ref().filter(|axes| !axes.is_empty()) {
            text.heading("By the axes of the mesh in which sender and receiver differ");
            for Along { axes, bytes, messages } in axes {
                let messages = count(*messages, "message", "messages");
                text.verbatim(format_args!(
                    "  {:<12}  {:>10}  {messages}",
                    axes.join(", "),
                    InUnits(*bytes).to_string()
                ));
            }
        }
        if !self.devices.is_empty() {
            text.heading("Device");
            self.devices.iter().take(SHOWN).for_each(|device| receiver(&mut text, device));
        }
        let hidden = self.devices.len().saturating_sub(SHOWN) as u64 + self.more_devices;
        if hidden > 0 {
            text.paragraph(format_args!("  … and {} (--device)", count(hidden, "other", "others")));
        }
        text
    }
}
