//! Checks whether plans choose the fastest vectors and stores: each plan competes with plans in which they are prescribed.

use crate::cases::Case;
use crate::peers::Contender;
use crate::{Rates, rates};
use xla_shape::relayout::{Options, Plan, Stores, Vectors};

/// The prescribed vectors and stores, with a name for each pair.
const PRESCRIBED: [(&str, Vectors, Stores); 4] = [
    ("AVX2", Vectors::Avx2, Stores::Auto),
    ("SSE2 or NEON", Vectors::Sse2, Stores::Auto),
    ("ordinary stores", Vectors::Avx512, Stores::Regular),
    ("non-temporal stores", Vectors::Avx512, Stores::Streaming),
];

/// The choice was wrong if a prescribed plan is at least this many times as fast.
const WRONG: f64 = 1.1;

/// Prints the cases in which a prescribed plan is more than a tenth faster, and the totals of each prescription: in how many cases it is a
/// tenth faster, in how many a tenth slower, and its geometric mean relative to the automatic plan.
pub(crate) fn compare<'a>(cases: impl Iterator<Item = &'a Case>, rounds: usize) {
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); PRESCRIBED.len()];
    let (mut count, mut wrong) = (0, 0);
    for case in cases {
        let mut gains = gains(case, rounds);
        if gains.iter().any(|(_, gain)| *gain > WRONG) {
            // A disturbance may have made the runs of the automatic plan longer, so measure again.
            let again = self::gains(case, 2 * rounds);
            gains.iter_mut().zip(again).for_each(|(gain, again)| gain.1 = gain.1.min(again.1));
        }
        let best = gains.iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, gain)| *gain > WRONG);
        if best.is_some() {
            wrong += 1;
            print!("{:9} bytes  {}", case.payload(), case.name);
            gains.iter().for_each(|(number, gain)| print!("  {} {gain:.2}", PRESCRIBED[*number].0));
            println!();
        }
        count += 1;
        gains.into_iter().for_each(|(number, gain)| all[number].push(gain));
    }
    println!("\nin {wrong} of {count} cases, a prescribed plan was more than a tenth faster");
    for ((name, ..), gains) in PRESCRIBED.iter().zip(all) {
        let faster = gains.iter().filter(|gain| **gain > WRONG).count();
        let slower = gains.iter().filter(|gain| **gain < 1.0 / WRONG).count();
        let mean = (gains.iter().map(|gain| gain.ln()).sum::<f64>() / gains.len() as f64).exp();
        println!("{name}: another plan in {}, faster in {faster}, slower in {slower}, mean {mean:.2}", gains.len());
    }
}

/// The speed of each prescribed plan that differs from the automatic plan, relative to it.
fn gains(case: &Case, rounds: usize) -> Vec<(usize, f64)> {
    let plan = |options: Options| Plan::new(&case.from, &case.to, &options).expect("the cases go together");
    let contender = |name, plan: Plan| {
        Contender::new(name, move |source, destination| {
            plan.run(source, destination).expect("the buffers have the right sizes");
        })
    };
    let automatic = plan(case.options.clone());
    let text = automatic.to_string();
    let mut contenders = vec![contender("automatic", automatic)];
    let mut others = Vec::new();
    for (number, (name, vectors, stores)) in PRESCRIBED.into_iter().enumerate() {
        let plan = plan(case.options.clone().vectors(vectors).stores(stores));
        if plan.to_string() != text {
            contenders.push(contender(name, plan));
            others.push(number);
        }
    }
    let Rates { gb_per_s: rates, .. } = rates(case, rounds, &contenders);
    others.into_iter().map(|number| (number, rates[PRESCRIBED[number].0] / rates["automatic"])).collect()
}
