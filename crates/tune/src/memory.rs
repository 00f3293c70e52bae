//! The memory in which an array is.

use super::{Measured, Place, SharedArray};
use std::str::FromStr;
use xla_shape_core::{Layout, memory_space};

/// The memory that is requested for an argument or a result of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Memory {
    /// The device's own, HBM.
    Device,
    /// The host's, where the device can reach it.
    PinnedHost,
}

impl Memory {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Device, Self::PinnedHost];

    /// The name in `mhlo.memory_kind` and in JAX's shardings.
    ///
    /// ```
    /// use xla_shape_tune::Memory;
    ///
    /// assert_eq!(Memory::ALL.map(Memory::kind), ["device", "pinned_host"]);
    /// ```
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::PinnedHost => "pinned_host",
        }
    }

    /// The memories that a text names, such as `device,pinned_host`; `None` if the text has an unknown name, or a name twice.
    ///
    /// ```
    /// use xla_shape_tune::Memory;
    ///
    /// assert_eq!(Memory::list("pinned_host,device"), Some(vec![Memory::PinnedHost, Memory::Device]));
    /// assert!(Memory::list("device,device").is_none() && Memory::list("hbm").is_none());
    /// ```
    #[must_use]
    pub fn list(kinds: &str) -> Option<Vec<Self>> {
        let mut memories = Vec::new();
        for kind in kinds.split(',') {
            let memory = kind.parse().ok()?;
            if memories.contains(&memory) {
                return None;
            }
            memories.push(memory);
        }
        Some(memories)
    }

    /// The memory space of layouts in an optimized module.
    pub(crate) const fn space(self) -> u8 {
        match self {
            Self::Device => memory_space::DEFAULT,
            Self::PinnedHost => memory_space::HOST,
        }
    }

    /// The memory of a layout; `None` if its memory space is none of these.
    pub(crate) fn of(layout: &Layout) -> Option<Self> {
        Self::ALL.into_iter().find(|memory| memory.space() == layout.memory_space())
    }
}

/// Reads the name of a memory.
///
/// # Errors
/// If the name is unknown. The error says which names were expected.
impl FromStr for Memory {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|memory| memory.kind() == name);
        known.ok_or_else(|| format!("expected the memory {}, found `{name}`", Self::ALL.map(Self::kind).join(" or ")))
    }
}

/// What is requested for a parameter or a result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Requested {
    /// The layout; `None` if the compiler chooses it.
    pub layout: Option<Layout>,
    /// `None` if the array stays in the memory where the program has it.
    pub memory: Option<Memory>,
}

/// The same layout in the default memory space, because `mhlo.layout_mode` cannot ask for another space.
pub(crate) fn without_space(layout: &Layout) -> Layout {
    in_space(layout, memory_space::DEFAULT)
}

pub(crate) fn in_space(layout: &Layout, space: u8) -> Layout {
    layout.clone().with_memory_space(space).unwrap_or_else(|_| layout.clone())
}

/// Whether an array is in another memory today than the one that was requested.
pub(crate) fn is_moved(arrays: &[SharedArray], choice: &[Layout], today: &[Measured]) -> bool {
    arrays.iter().zip(choice).any(|(array, layout)| {
        let mut now = array.places.iter().filter_map(|(program, place)| today.get(*program)?.array(place));
        now.any(|now| !array.is_in_memory(now.layout(), layout))
    })
}

/// A note that says which figures cannot be compared, if an array is requested in the host's memory.
pub(crate) fn note(arrays: &[SharedArray]) -> Option<String> {
    let on_host = arrays.iter().filter(|array| array.memories.contains(&Memory::PinnedHost));
    let names = on_host.map(|array| array.name.as_str()).collect::<Vec<_>>();
    (!names.is_empty()).then(|| {
        format!(
            "The compiler gives no cycles for copies between the host's memory and the device's. So cycles with {} in different memories cannot \
             be compared, and the first memory that can be used is the answer.",
            names.join(", ")
        )
    })
}

/// Every combination of one memory for each array, the preferred ones first. A combination has `None` for an array that stays where it is. The
/// result is `None` if there are more than `most` combinations.
pub(crate) fn homes(arrays: &[SharedArray], most: u64) -> Option<Vec<Vec<Option<Memory>>>> {
    let mut all = vec![Vec::new()];
    for array in arrays {
        let own: Vec<Option<Memory>> = match array.memories.as_slice() {
            [] => vec![None],
            memories => memories.iter().copied().map(Some).collect(),
        };
        // The memory of the last array changes first: (device, device), (device, host), (host, device), (host, host).
        let longer = |homes: Vec<Option<Memory>>| {
            own.iter().map(move |memory| [homes.as_slice(), &[*memory]].concat()).collect::<Vec<_>>()
        };
        if u64::try_from(all.len().checked_mul(own.len())?).ok()? > most {
            return None;
        }
        all = all.into_iter().flat_map(longer).collect();
    }
    Some(all)
}

impl SharedArray {
    /// The same array, requested in one of these memories: the first one in which the programs compile and keep the limit. By default, each
    /// program keeps the array in the memory where it is now.
    ///
    /// ```
    /// use xla_shape_tune::{Ask, Memory, Place, SharedArray};
    ///
    /// let array = "f32[8,128]{1,0:T(8,128)}".parse()?;
    /// let places = vec![(0, Place::Parameter(2, vec![]))];
    /// let array = SharedArray { name: "w".into(), places, array, memories: vec![] }.with_memories(vec![Memory::PinnedHost]);
    /// let layout = "{1,0:T(8,128)S(5)}".parse()?;
    /// let asked = Ask::Layouts([(0, layout)].into()).places(&[array], 0);
    /// let requested = &asked[&Place::Parameter(2, vec![])];
    /// assert_eq!(requested.memory, Some(Memory::PinnedHost));
    /// assert_eq!(requested.layout, Some("{1,0:T(8,128)}".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_memories(self, memories: Vec<Memory>) -> Self {
        Self { memories, ..self }
    }

    /// What to request at each place of the array to get this layout: the layout without its memory space, and the memory that this space means.
    pub(crate) fn requested(&self, layout: Option<&Layout>) -> Requested {
        let memory = layout.filter(|_| !self.memories.is_empty()).and_then(Memory::of);
        Requested { layout: layout.map(without_space), memory }
    }

    /// Whether a compiled program has the array in the memory space of the wanted layout; true if no memory was requested.
    pub(crate) fn is_in_memory(&self, found: &Layout, wanted: &Layout) -> bool {
        self.memories.is_empty() || found.memory_space() == wanted.memory_space()
    }

    /// The places of a program.
    pub(crate) fn places_of(&self, program: usize) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(move |(owner, _)| *owner == program).map(|(_, place)| place)
    }
}
