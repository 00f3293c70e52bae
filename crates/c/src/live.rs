//! The table of handles that exist, with their types. Only builds with debug assertions have it.

#[cfg(debug_assertions)]
mod registry {
    use std::collections::BTreeMap;
    use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

    /// The address of each handle, and what it is.
    static LIVE: LazyLock<Mutex<BTreeMap<usize, &'static str>>> = LazyLock::new(Mutex::default);

    fn live() -> MutexGuard<'static, BTreeMap<usize, &'static str>> {
        // No code that holds the lock leaves the table half changed.
        LIVE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add<T>(handle: *const T, name: &'static str) {
        live().insert(handle.addr(), name);
    }

    /// Whether this is a handle of this type. A pointer to a freed handle also counts if a new handle of the type has been allocated at the same
    /// address.
    pub(crate) fn has<T>(handle: *const T, name: &'static str) -> bool {
        live().get(&handle.addr()) == Some(&name)
    }

    /// Removes a handle. Returns whether there was one.
    pub(crate) fn remove<T>(handle: *const T, name: &'static str) -> bool {
        let mut live = live();
        let found = live.get(&handle.addr()) == Some(&name);
        if found {
            live.remove(&handle.addr());
        }
        found
    }
}

#[cfg(not(debug_assertions))]
mod registry {
    pub(crate) fn add<T>(_: *const T, _: &'static str) {}

    #[inline(always)]
    pub(crate) fn has<T>(_: *const T, _: &'static str) -> bool {
        true
    }

    pub(crate) fn remove<T>(_: *const T, _: &'static str) -> bool {
        true
    }
}

pub(crate) use registry::{add, has, remove};
