//! A hash table of names.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// A hash table from texts to numbers whose cost stays near linear even if the input is chosen so that hashes collide.
///
/// The table stores only hashes and numbers; the caller passes a function that returns the text of a number. A text that finds no free slot near
/// its hash goes into a sorted map, so with many collisions a look-up takes logarithmic time, not linear time.
#[derive(Clone, Debug)]
pub(crate) struct NameTable {
    slots: Vec<Slot>,
    used: usize,
    /// Slots with a number below this are free.
    first: u32,
    overflow: BTreeMap<Vec<u8>, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    number: u32,
}

/// The number that means "none".
pub(crate) const NONE: u32 = u32::MAX;

/// The number of consecutive slots that a text can be in.
const REACH: usize = 16;

impl NameTable {
    /// An empty table, which takes no memory.
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), used: 0, first: 0, overflow: BTreeMap::new() }
    }

    /// The bytes of memory that the table takes.
    pub(crate) fn heap_bytes(&self) -> usize {
        let texts = self.overflow.keys().map(|text| text.capacity() + size_of::<(Vec<u8>, u32)>());
        self.slots.capacity() * size_of::<Slot>() + texts.sum::<usize>()
    }

    /// Removes all texts. Texts added later must have numbers of at least `first`.
    pub(crate) fn restart(&mut self, first: u32) {
        self.first = first;
        self.used = 0;
        self.overflow.clear();
    }

    fn is_free(&self, slot: Slot) -> bool {
        slot.number == NONE || slot.number < self.first
    }

    /// The slots that a text with this hash can be in, in order.
    fn places(&self, hash: u32) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len().wrapping_sub(1);
        (0..REACH).map(move |step| (hash as usize).wrapping_add(step) & mask)
    }

    /// The number of a text; `None` if the table does not have it.
    pub(crate) fn get<'t>(&self, text: &[u8], hash: u32, text_of: impl Fn(u32) -> &'t [u8]) -> Option<u32> {
        for place in self.places(hash) {
            let Some(&slot) = self.slots.get(place) else { break };
            if self.is_free(slot) {
                break;
            }
            if slot.hash == hash && text_of(slot.number) == text {
                return Some(slot.number);
            }
        }
        self.overflow.get(text).copied()
    }

    /// Adds a text that the table does not have. `text_of` returns the text of a number added earlier.
    pub(crate) fn insert<'t>(&mut self, text: &[u8], hash: u32, number: u32, text_of: impl Fn(u32) -> &'t [u8]) {
        if self.used >= self.slots.len() / 2 {
            self.grow(text_of);
        }
        if !self.place(Slot { hash, number }) {
            self.overflow.insert(text.to_vec(), number);
        }
    }

    fn place(&mut self, new: Slot) -> bool {
        for place in self.places(new.hash) {
            if let Some(slot) = self.slots.get(place).copied()
                && self.is_free(slot)
            {
                self.used += 1;
                if let Some(slot) = self.slots.get_mut(place) {
                    *slot = new;
                }
                return true;
            }
        }
        false
    }

    #[cold]
    fn grow<'t>(&mut self, text_of: impl Fn(u32) -> &'t [u8]) {
        let larger = vec![Slot { hash: 0, number: NONE }; (self.slots.len() * 2).max(256)];
        let old = core::mem::replace(&mut self.slots, larger);
        self.used = 0;
        for slot in old {
            if !self.is_free(slot) && !self.place(slot) {
                self.overflow.insert(text_of(slot.number).to_vec(), slot.number);
            }
        }
    }
}

/// A fast hash without a secret key: [`NameTable`] stays fast if hashes collide.
pub(crate) fn hash(text: &[u8]) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| (state ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let (words, rest) = text.as_chunks::<8>();
    let state = words.iter().fold(rest.len() as u64, |state, word| mix(state, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let state = mix(state, u64::from_le_bytes(last)).wrapping_mul(FACTOR);
    (state >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::{NameTable, hash};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    /// Adds many names with this hash function and looks each up again.
    fn round(hash: impl Fn(&[u8]) -> u32) {
        let names: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
        let mut table = NameTable::new();
        let text_of = |number: u32| names.get(number as usize).map_or(&b""[..], |name| name.as_bytes());
        let all = || names.iter().map(|name| name.as_bytes());
        for (number, name) in all().enumerate() {
            assert_eq!(table.get(name, hash(name), text_of), None);
            table.insert(name, hash(name), number as u32, text_of);
        }
        for (number, name) in all().enumerate() {
            assert_eq!(table.get(name, hash(name), text_of), Some(number as u32));
        }
        table.restart(2000);
        for name in all() {
            assert_eq!(table.get(name, hash(name), text_of), None);
        }
    }

    #[test]
    fn finds_what_was_added() {
        round(hash);
    }

    #[test]
    fn finds_what_was_added_when_all_hashes_are_equal() {
        round(|_| 7);
        round(|name| u32::from(name.len() % 2 == 0));
    }

    #[test]
    fn the_hash_sees_every_byte() {
        let names: Vec<String> = (0..20_000).map(|number| number.to_string()).collect();
        let mut hashes: Vec<u32> = names.iter().map(|name| hash(name.as_bytes())).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert!(hashes.len() > 19_990);
        assert_ne!(hash(b"a"), hash(b"a\0"));
    }
}
