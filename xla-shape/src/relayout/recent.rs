//! The plans that a thread has made last: whoever makes one for each call gets the same again.

use super::options::Options;
use super::plan::Plan;
use crate::ArrayShape;
use std::cell::RefCell;

/// How many are kept for each thread.
const KEPT: usize = 8;

thread_local! {
    /// In the order in which they are replaced, from the number that follows.
    static RECENT: RefCell<(Vec<(Options, Plan)>, usize)> = const { RefCell::new((Vec::new(), 0)) };
}

/// The plan that was made for the same not long ago.
pub(super) fn find(from: &ArrayShape, to: &ArrayShape, options: &Options) -> Option<Plan> {
    let same = |(own, plan): &&(Options, Plan)| plan.from() == from && plan.to() == to && own == options;
    let find = |recent: &RefCell<(Vec<_>, usize)>| recent.borrow().0.iter().find(same).map(|(_, plan)| plan.clone());
    // Nothing is kept while a thread ends.
    RECENT.try_with(find).ok()?
}

/// Keeps a plan, in the place of the oldest.
pub(super) fn keep(options: &Options, plan: &Plan) {
    let keep = |recent: &RefCell<(Vec<_>, usize)>| {
        let (plans, next) = &mut *recent.borrow_mut();
        let entry = (options.clone(), plan.clone());
        if plans.len() < KEPT {
            plans.push(entry);
        } else {
            plans[*next] = entry;
            *next = (*next + 1) % KEPT;
        }
    };
    // Nothing is kept while a thread ends.
    let _ = RECENT.try_with(keep);
}

#[cfg(test)]
mod tests {
    use super::{KEPT, Options, Plan, find};

    #[test]
    fn the_same_is_found_until_others_came() {
        let shape = |size: usize| format!("f32[{size},3]").parse().unwrap();
        let plan = |size| Plan::new(&shape(size), &shape(size), &Options::new()).unwrap();
        let first = plan(100);
        assert!(find(&shape(100), &shape(100), &Options::new()).is_some());
        // Everything counts.
        assert!(find(&shape(100), &shape(101), &Options::new()).is_none());
        assert!(find(&shape(100), &shape(100), &Options::new().zero_padding()).is_none());
        assert!(find(&"u32[100,3]".parse().unwrap(), &shape(100), &Options::new()).is_none());
        assert_eq!(plan(100).to_string(), first.to_string());
        (0..KEPT).for_each(|i| drop(plan(i + 1)));
        assert!(find(&shape(100), &shape(100), &Options::new()).is_none());
        let source = (0..1200_u32).map(|i| i as u8).collect::<Vec<_>>();
        let mut destination = vec![0; 1200];
        first.run(&source, &mut destination).unwrap();
        assert_eq!(source, destination);
    }

    /// Plans with large tables are not kept.
    #[test]
    fn what_takes_much_memory_is_made_again() {
        let [from, to] = ["f32[2000,2000]{1,0:T(8,128)(3,1)}", "f32[2000,2000]"].map(|text| text.parse().unwrap());
        Plan::new(&from, &to, &Options::new()).unwrap();
        assert!(find(&from, &to, &Options::new()).is_none());
    }
}
