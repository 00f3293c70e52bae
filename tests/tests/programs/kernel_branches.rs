//! The lower bound on the number of bundles that execute, compared with a simulation that executes them.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use xla_shape_mosaic::{Bundles, Kernel, Texts, loops};
use xla_shape_tests::is_thorough;

/// A loop of 10 iterations, like the pipeline of a grid. Bundle 3 is skipped in the first and the last iteration, bundle 6 in all except the third,
/// and bundle 9 depending on a value in memory.
const PIPELINED: &str = "\
   0   :  { %s1_s0 = smov.u32 0 }
 0x1 LB: > { %s2_s0 = sphi %s1_s0, %s3_s0  ;;  %p4_p0 = scmp.ge.s32.totalorder %s2_s0, 1  ;;  %9 = sst [smem:[#allocation1_spill]] %s2_s0 }
 0x2   : > { %p5_p1 = scmp.lt.s32.totalorder %s2_s0, 9  ;;  %p6_p2 = pnand %p4_p0, %p5_p1  ;;  %7 = sbr.rel (%p6_p2) target = $region2 }
 0x3   : > { %v8_v0 = vlaneseq.b32 }
 0x4   : > { %s10_s1 = sld [smem:[#allocation1_spill]]  ;;  %s3_s0 = sadd.s32 1, %s2_s0 } /* Start region 2 */
 0x5   : > { %p11_p0 = scmp.eq.s32.totalorder %s10_s1, 2  ;;  %12 = sbr.rel (!%p11_p0) target = $region3 }
 0x6   : > { %v13_v0 = vlaneseq.b32 }
 0x7   : > { %s14_s2 = sld [smem:[#allocation7]]  ;;  %p15_p0 = scmp.eq.s32.totalorder %s14_s2, 2 } /* Start region 3 */
 0x8   : > { %16 = sbr.rel (%p15_p0) target = $region4 }
 0x9   : > { %v17_v0 = vlaneseq.b32 }
 0xa   : > { %p18_p0 = scmp.ge.s32.totalorder %s3_s0, 10 } /* Start region 4 */
 0xb   : > { %19 = sbr.rel (!%p18_p0) target = $region9 }
";

fn least(text: &str) -> (Option<u64>, Option<u64>) {
    let kernel = Kernel::read(Texts { bundles: Some(text), ..Texts::default() }).unwrap();
    (kernel.least, kernel.executed)
}

#[test]
fn branches_that_depend_on_the_iteration_are_computed() {
    // Bundles 1, 2, 4, 5, 7, 8, 10, 11 execute in all iterations, 3 in eight of them, 6 in one, and 9 perhaps in none.
    assert_eq!(least(PIPELINED), (Some(1 + 8 * 10 + 8 + 1), Some(1 + 11 * 10)));
    // A loop whose trip count is not known counts as one iteration: iteration 0, in which 3 and 6 are skipped.
    let unknown = PIPELINED.replace("%s3_s0, 10 }", "%s14_s2, 10 }");
    assert_eq!(least(&unknown), (Some(1 + 8), None));
    // A loop that a branch leaves also counts as running once.
    let left = format!(
        "{} 0xc   :  {{ %v20_v0 = vlaneseq.b32 }} /* Start region 4 */\n",
        PIPELINED.replace(" /* Start region 4 */", "")
    );
    assert_eq!(least(&left).0, Some(1 + 6 + 1));
    // If a register is written twice, or by an unknown instruction, its value is not known.
    for change in [
        ("vlaneseq.b32 }\n 0x4", "vlaneseq.b32  ;;  %p5_p1 = scmp.lt.s32.totalorder %s2_s0, 9 }\n 0x4"),
        ("pnand", "pxyz"),
    ] {
        let unknown = PIPELINED.replacen(change.0, change.1, 1);
        assert_eq!(least(&unknown).0, Some(1 + 8 * 10 + 1), "{change:?}");
    }
}

/// A kernel with a grid of several dimensions counts each dimension with a select: the next number, or 0 after the last one.
#[test]
fn selections_are_computed() {
    let selected = |[predicate, yes, no]: [&str; 3]| {
        let select =
            format!("scalar_select /*predicate=*/{predicate}, /*on_true=*/{yes}, /*on_false=*/{no} /* copy */");
        PIPELINED.replace("sld [smem:[#allocation1_spill]]", &select)
    };
    assert_eq!(least(&selected(["%p4_p0", "%s2_s0", "7"])), least(PIPELINED));
    assert_eq!(least(&selected(["%p4_p0", "7", "%s2_s0"])).0, Some(1 + 8 * 10 + 8));
    assert_eq!(least(&selected(["%p99_p0", "2", "2"])).0, Some(1 + 8 * 10 + 8));
}

/// A loop with many iterations takes little time, and the result is still a lower bound.
#[test]
fn many_iterations_have_a_bound() {
    let many = PIPELINED.replace("%s3_s0, 10 }", "%s3_s0, 2000000000 }").replace("%s2_s0, 9 ", "%s2_s0, 1999999999 ");
    let (least, executed) = least(&many);
    assert_eq!((least, executed), (Some(1 + 8 * 2_000_000_000), Some(1 + 11 * 2_000_000_000)));
}

/// A fill with a predicate may leave the register as it was.
#[test]
fn a_fill_with_a_predicate_is_not_computed() {
    let filled = "sld [smem:[#allocation1_spill]]";
    let maybe = PIPELINED.replace(filled, &format!("{filled} (!%p4_p0)"));
    assert_eq!(least(&maybe), (Some(1 + 8 * 10 + 8), Some(1 + 11 * 10)));
    let limit = PIPELINED
        .replace(
            "{ %s1_s0 =",
            "{ %s30_s5 = smov.u32 10  ;;  %31 = sst [smem:[#allocation3_spill]] %s30_s5  ;;  %s1_s0 =",
        )
        .replace("{ %p18_p0", "{ %s32_s5 = sld [smem:[#allocation3_spill]]  ;;  %p18_p0")
        .replace("%s3_s0, 10 }", "%s3_s0, %s32_s5 }");
    assert_eq!(least(&limit), least(PIPELINED));
    let maybe = limit.replace("[#allocation3_spill]]  ;;  %p18", "[#allocation3_spill]] (%p4_p0)  ;;  %p18");
    assert_eq!(least(&maybe).1, None);
}

/// If a branch leaves a loop, everything between the loop and the branch's target counts as skipped, also other loops.
#[test]
fn a_branch_that_leaves_a_loop_skips_what_follows_the_loop() {
    let one = |number: u64| format!(" {number:#x}   :  {{ %v{number}_v0 = vlaneseq.b32 }}\n");
    let left = PIPELINED.replace(" /* Start region 4 */", "");
    let end = " 0x14   :  { %v20_v0 = vlaneseq.b32 } /* Start region 4 */\n";
    assert_eq!(least(&format!("{left}{}{}{end}", one(0x12), one(0x13))).0, Some(1 + 6 + 1));
    let inner = " 0x13 LB: > { %s40_s0 = sphi 0, %s41_s0  ;;  %s41_s0 = sadd.s32 1, %s40_s0  ;;  %p42_p0 = \
                 scmp.ge.s32.totalorder %s41_s0, 5  ;;  %43 = sbr.rel (!%p42_p0) target = $region19 }\n";
    assert_eq!(least(&format!("{left}{}{inner}{end}", one(0x12))).0, Some(1 + 6 + 1));
    // Without the branch, the second loop runs all its iterations.
    let stays = left.replace("  ;;  %12 = sbr", "  ;;  %12 = xbr").replace("%16 = sbr", "%16 = xbr");
    assert_eq!(least(&format!("{stays}{}{inner}{end}", one(0x12))).0, Some(1 + 8 + 10 * 10 + 1 + 5 + 1));
}

#[test]
fn a_branch_into_the_middle_of_a_loop_has_no_bound() {
    let into = |region: u64| PIPELINED.replacen(" }", &format!("  ;;  %50 = sbr.rel target = $region{region} }}"), 1);
    assert_eq!(least(&into(2)).0, None);
}

/// The time is proportional to the text, or bounded. Otherwise these texts would take minutes.
#[test]
fn long_programs_have_a_bound() {
    let sibling = |number: u64| {
        format!(
            " 0x1 LB: > {{ %s{number}a = sphi 0, %s{number}b  ;;  %s{number}b = sadd.s32 1, %s{number}a  ;;  %p{number}c = \
             scmp.eq.s32.totalorder %s{number}a, 0 }}\n 0x2   : > {{ %1 = sbr.rel (%p{number}c) target = $region{number} }}\n \
             0x3   : > {{ %2 = vlaneseq.b32 }}\n 0x4   : > {{ %p{number}d = scmp.ge.s32.totalorder %s{number}b, 3  ;;  %3 = \
             sbr.rel (!%p{number}d) target = $region90000 }} /* Start region {number} */\n"
        )
    };
    let times = if is_thorough() { 4 } else { 1 };
    let count = 5_000 * times;
    let siblings = (0..count).map(sibling).collect::<String>();
    assert_eq!(least(&siblings), (Some(count * (3 * 3 + 2)), Some(count * 4 * 3)));
    // A loop with many branches that are not marked as belonging to it.
    let mut unmarked = " 0x1 LB: > { %s1 = sphi 0, %s2 }\n".to_owned();
    let count = 8_000 * times;
    for number in 0..count {
        let _ = writeln!(
            unmarked,
            " 0x2   :  {{ %3 = sbr.rel (!%p4) target = $region{number} }} /* End region 9{number} */"
        );
    }
    unmarked += " 0x3   : > { %5 = vlaneseq.b32 }\n";
    let bundles = Bundles::parse(&unmarked);
    let [found] = &loops(&bundles)[..] else { panic!() };
    assert_eq!((found.first, found.last, found.trips), (0, count as usize + 1, None));
    // A chain of values that the loop carries: each takes the value that the next one had in the iteration before.
    let mut carried = " 0x1 LB: > { %s1 = sphi 0, %s2  ;;  %s2 = sadd.s32 1, %s1".to_owned();
    for number in 3..3_000 {
        let _ = write!(carried, "  ;;  %s{number} = sphi 0, %s{}", number + 1);
    }
    carried += " }\n 0x2   : > { %p5 = scmp.ge.s32.totalorder %s3, 1  ;;  %6 = sbr.rel (%p5) target = $region7 }\n \
                0x3   : > { %7 = vlaneseq.b32 }\n 0x4   : > { %p8 = scmp.ge.s32.totalorder %s2, 1000000  ;;  %9 = sbr.rel \
                (!%p8) target = $region90000 } /* Start region 7 */\n";
    assert_eq!(least(&carried), (Some(3_000_000), Some(4_000_000)));
}

/// A part of a program: one bundle, or a loop with its trips.
#[derive(Clone, Debug)]
enum Part {
    Bundle,
    Loop(u64, Vec<Part>),
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let part = prop_oneof![2 => Just(Part::Bundle), 1 => (1_u64..5).prop_map(|trips| Part::Loop(trips, Vec::new()))];
    let nested = part.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            2 => Just(Part::Bundle),
            1 => (1_u64..5, prop::collection::vec(inner, 0..5)).prop_map(|(trips, body)| Part::Loop(trips, body)),
        ]
    });
    prop::collection::vec(nested, 1..8)
}

/// The role of a bundle in loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Plain,
    Begin,
    /// The end of a loop: goes back to the bundle with the first number, until the loop has run as many iterations as the second one says.
    End(usize, u64),
}

#[derive(Clone, Debug)]
struct Row {
    role: Role,
    /// The first bundles of the loops around this one, from the outermost to the innermost.
    around: Vec<usize>,
}

fn flatten(parts: &[Part], around: &[usize], rows: &mut Vec<Row>) {
    for part in parts {
        match part {
            Part::Bundle => rows.push(Row { role: Role::Plain, around: around.to_vec() }),
            Part::Loop(trips, body) => {
                let first = rows.len();
                let around = [around, &[first]].concat();
                rows.push(Row { role: Role::Begin, around: around.clone() });
                flatten(body, &around, rows);
                rows.push(Row { role: Role::End(first, *trips), around });
            }
        }
    }
}

/// When a branch is taken: always, depending on the iteration of a loop around it, or depending on a value in memory.
#[derive(Clone, Copy, Debug)]
enum When {
    Always,
    Count { of: usize, test: &'static str, number: u64, negated: bool },
    Memory(u32),
}

#[derive(Clone, Debug)]
struct Jump {
    until: usize,
    when: When,
}

/// A program as text, and how many bundles it executes.
fn text_of(rows: &[Row], jumps: &BTreeMap<usize, Jump>) -> String {
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let label = if row.role == Role::Begin { "LB" } else { "  " };
        let _ = write!(text, " {number:#x} {label}: {} {{ %v{number} = vlaneseq.b32", ">".repeat(row.around.len()));
        match row.role {
            Role::Plain => {}
            Role::Begin => {
                let _ =
                    write!(text, "  ;;  %s{number}a = sphi 0, %s{number}b  ;;  %s{number}b = sadd.s32 1, %s{number}a");
            }
            Role::End(first, trips) => {
                let _ = write!(
                    text,
                    "  ;;  %p{number}d = scmp.ge.s32.totalorder %s{first}b, {trips}  ;;  %1 = sbr.rel (!%p{number}d) target = \
                     $region{}",
                    number + 10_000
                );
            }
        }
        if let Some(jump) = jumps.get(&number) {
            let predicate = match jump.when {
                When::Always => String::new(),
                When::Count { of, test, number: limit, negated } => {
                    let _ = write!(text, "  ;;  %p{number}e = scmp.{test}.s32.totalorder %s{of}a, {limit}");
                    format!("({}%p{number}e) ", if negated { "!" } else { "" })
                }
                When::Memory(_) => {
                    let _ = write!(
                        text,
                        "  ;;  %s{number}f = sld [smem:[#allocation7]]  ;;  %p{number}e = scmp.eq.s32.totalorder %s{number}f, 2"
                    );
                    format!("(%p{number}e) ")
                }
            };
            let _ = write!(text, "  ;;  %2 = sbr.rel {predicate}target = $region{}", jump.until);
        }
        let _ = writeln!(text, " }} /* Start region {number} */");
    }
    text
}

fn executed(rows: &[Row], jumps: &BTreeMap<usize, Jump>) -> u64 {
    let (mut at, mut times, mut counters) = (0, 0_u64, BTreeMap::new());
    let mut back = false;
    while let Some(row) = rows.get(at) {
        times += 1;
        if row.role == Role::Begin {
            let counter: &mut u64 = counters.entry(at).or_default();
            *counter = if back { *counter + 1 } else { 0 };
        }
        back = false;
        let taken = jumps.get(&at).filter(|jump| match jump.when {
            When::Always => true,
            When::Count { of, test, number, negated } => {
                let counter = counters[&of];
                negated
                    != match test {
                        "eq" => counter == number,
                        "lt" => counter < number,
                        _ => counter >= number,
                    }
            }
            // The value in memory is different each time.
            When::Memory(bits) => bits >> (times % 32) & 1 != 0,
        });
        at = match (taken, row.role) {
            (Some(jump), _) => jump.until,
            (None, Role::End(first, trips)) if counters[&first] + 1 < trips => {
                back = true;
                first
            }
            _ => at + 1,
        };
    }
    times
}

proptest! {
    /// The bound holds for all branches that go forward and do not jump into a loop.
    #[test]
    fn no_program_executes_fewer_bundles(parts in parts(), jumps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_usize..5, 0_u64..5, any::<u32>()), 0..6)) {
        let mut rows = Vec::new();
        flatten(&parts, &[], &mut rows);
        rows.push(Row { role: Role::Plain, around: Vec::new() });
        let mut chosen = BTreeMap::new();
        for (from, until, of, how, number, bits) in jumps {
            let from = from.index(rows.len());
            let row = &rows[from];
            // The target may be the beginning of a later loop, but not inside it.
            let reached = |until: &usize| rows[*until].around.iter().all(|first| first == until || *first <= from);
            let targets = (from + 1..rows.len()).filter(reached).collect::<Vec<_>>();
            if matches!(row.role, Role::End(..)) || targets.is_empty() {
                continue;
            }
            let when = match how {
                0 => When::Always,
                1 => When::Memory(bits),
                _ if row.around.is_empty() => When::Memory(bits),
                _ => When::Count { of: *of.get(&row.around), test: ["eq", "lt", "ge"][how - 2], number, negated: bits & 1 != 0 },
            };
            chosen.insert(from, Jump { until: *until.get(&targets), when });
        }
        let text = text_of(&rows, &chosen);
        let really = executed(&rows, &chosen);
        let (least, all) = least(&text);
        prop_assert!(least.is_some_and(|least| least <= really), "{:?} of {}:\n{}", least, really, text);
        prop_assert!(all.is_some_and(|all| really <= all), "{:?} of {}:\n{}", all, really, text);
        if chosen.is_empty() {
            prop_assert_eq!(least, Some(really));
        }
    }
}
