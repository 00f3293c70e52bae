//! Which device has which tile: an explicit list, or an iota (0, 1, … as a transposed array), which stays symbolic.

use super::error::ShardingError;
use crate::layout::number::{first_not_distinct, with_seen};
use crate::sorting::sort;
use alloc::vec;
use alloc::vec::Vec;

/// The largest number of devices for which an iota is expanded to a list, where an operation has no symbolic result.
///
/// Lists that come from a text may be longer, because they are as long as the text. An iota of any size stays an iota.
pub const MAX_LISTED_DEVICES: u64 = 1 << 20;

/// The sequence of device numbers that `[4,2]T(1,0)` describes: an array of 0, 1, … in row-major order, transposed,
/// then read in row-major order again. Here it is 0, 2, 4, 6, 1, 3, 5, 7.
///
/// It is canonical as in XLA (`CanonicalizeIotaDims` in `xla/hlo/ir/tile_assignment.cc`): no dimension has size 1, and
/// no two neighbours could be merged. Therefore two iotas are the same sequence exactly if they are equal.
///
/// ```
/// use xla_shape_core::shard::Iota;
///
/// let iota = Iota::new(&[4, 2], &[1, 0])?;
/// assert_eq!((0..8).filter_map(|position| iota.get(position)).collect::<Vec<_>>(), [0, 2, 4, 6, 1, 3, 5, 7]);
/// # Ok::<(), xla_shape_core::shard::ShardingError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Iota {
    dimensions: Vec<u64>,
    permutation: Vec<usize>,
}

impl Iota {
    /// The numbers 0 to `count - 1` in order.
    ///
    /// ```
    /// use xla_shape_core::shard::Iota;
    ///
    /// assert!(Iota::in_order(8).is_in_order());
    /// assert_eq!(Iota::in_order(8).count(), 8);
    /// ```
    #[must_use]
    pub fn in_order(count: u64) -> Self {
        Self { dimensions: vec![count], permutation: vec![0] }
    }

    /// The numbers 0, 1, … as an array of `dimensions`, transposed so that dimension `i` of the result is dimension
    /// `permutation[i]` of the array.
    ///
    /// ```
    /// use xla_shape_core::shard::Iota;
    ///
    /// // Dimensions of size 1 are dropped, and neighbours that stay neighbours are merged.
    /// assert_eq!(Iota::new(&[2, 1, 2, 3], &[3, 0, 1, 2])?, Iota::new(&[4, 3], &[1, 0])?);
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    ///
    /// # Errors
    /// If `permutation` is not a permutation of the dimensions, a dimension is 0, or the product exceeds `i64::MAX`.
    pub fn new(dimensions: &[u64], permutation: &[usize]) -> Result<Self, ShardingError> {
        product(dimensions)?;
        let rank = dimensions.len();
        if permutation.len() != rank {
            return Err(ShardingError::PermutationLength { expected: rank, found: permutation.len() });
        }
        let wrong = with_seen(rank, |seen| first_not_distinct(permutation, rank, seen));
        if let Some(&dimension) = wrong.and_then(|(place, _)| permutation.get(place)) {
            return Err(ShardingError::Permutation { dimension: dimension as u64, rank });
        }
        Ok(Self::canonical(dimensions, permutation))
    }

    /// Drops dimensions of size 1 and merges dimensions that stay neighbours in the same order.
    fn canonical(dimensions: &[u64], permutation: &[usize]) -> Self {
        let size = |dimension: usize| dimensions.get(dimension).copied().unwrap_or(1);
        // The new number of each dimension after dimensions of size 1 are dropped.
        let mut left = 0_usize;
        let mut numbers = Vec::with_capacity(dimensions.len());
        for &size in dimensions {
            numbers.push(left);
            left += usize::from(size != 1);
        }
        let number = |dimension: usize| numbers.get(dimension).copied().unwrap_or(0);
        // Runs of consecutive dimensions in the permutation: each run's first dimension, and the product of its sizes.
        let mut runs = Vec::<(usize, u64)>::new();
        let mut next = None;
        for &dimension in permutation.iter().filter(|&&dimension| size(dimension) != 1) {
            let this = number(dimension);
            match runs.last_mut() {
                Some((_, run)) if next == Some(this) => *run = run.saturating_mul(size(dimension)),
                _ => runs.push((this, size(dimension))),
            }
            next = Some(this + 1);
        }
        if runs.is_empty() {
            return Self::in_order(1);
        }
        let mut sorted = runs.clone();
        sort(&mut sorted);
        let place = |run: &(usize, u64)| sorted.binary_search(run).unwrap_or(0);
        let permutation = runs.iter().map(place).collect();
        Self { dimensions: sorted.into_iter().map(|(_, size)| size).collect(), permutation }
    }

    /// The iota that gives this list of numbers; `None` if no iota does.
    ///
    /// ```
    /// use xla_shape_core::shard::Iota;
    ///
    /// assert_eq!(Iota::of_list(&[0, 2, 4, 6, 1, 3, 5, 7]), Some(Iota::new(&[4, 2], &[1, 0])?));
    /// assert_eq!([&[0, 1, 3, 2][..], &[1, 0], &[]].map(Iota::of_list), [None, None, None]);
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    #[must_use]
    pub fn of_list(list: &[i64]) -> Option<Self> {
        let at = |position: u64| u64::try_from(*list.get(usize::try_from(position).ok()?)?).ok();
        let count = list.len() as u64;
        if at(0)? != 0 {
            return None;
        }
        // Finds the dimensions of the transposed array, the most minor one first. The dimensions so far explain the first `done` numbers.
        // The number after those is the stride of the next dimension. Its size is the number of multiples of the stride that follow at the
        // same distance.
        let (mut digits, mut done) = (Vec::<(u64, u64)>::new(), 1_u64);
        while done < count {
            let stride = at(done)?;
            let mut size = 2_u64;
            while done.checked_mul(size).and_then(at).is_some_and(|number| stride.checked_mul(size) == Some(number)) {
                size = size.checked_add(1)?;
            }
            digits.push((stride, size));
            done = done.checked_mul(size)?;
        }
        let mut sorted = digits.clone();
        sort(&mut sorted);
        sorted.reverse();
        let dimensions = sorted.iter().map(|&(_, size)| size).collect::<Vec<_>>();
        let place = |digit: &(u64, u64)| sorted.iter().position(|other| other == digit);
        let permutation = digits.iter().rev().map(place).collect::<Option<Vec<_>>>()?;
        let found = Self::new(&dimensions, &permutation).ok()?;
        (found.count() == count && (0..count).all(|position| found.get(position) == at(position))).then_some(found)
    }

    /// The dimensions of the array before it is transposed.
    ///
    /// ```
    /// use xla_shape_core::shard::Iota;
    ///
    /// assert_eq!(Iota::new(&[4, 2], &[1, 0])?.dimensions(), [4, 2]);
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    #[must_use]
    pub fn dimensions(&self) -> &[u64] {
        &self.dimensions
    }

    /// The transposition: dimension `i` of the transposed array is dimension `permutation[i]`.
    ///
    /// ```
    /// use xla_shape_core::shard::Iota;
    ///
    /// assert_eq!(Iota::new(&[4, 2], &[1, 0])?.permutation(), [1, 0]);
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    #[must_use]
    pub fn permutation(&self) -> &[usize] {
        &self.permutation
    }

    /// Whether the numbers are in order.
    ///
    /// ```
    /// use xla_shape_core::shard::Iota;
    ///
    /// assert!(Iota::new(&[4, 2], &[0, 1])?.is_in_order());
    /// assert!(!Iota::new(&[4, 2], &[1, 0])?.is_in_order());
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.dimensions.len() == 1
    }

    /// The length of the sequence.
    ///
    /// ```
    /// use xla_shape_core::shard::Iota;
    ///
    /// assert_eq!(Iota::new(&[4, 2], &[1, 0])?.count(), 8);
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    #[must_use]
    pub fn count(&self) -> u64 {
        self.dimensions.iter().fold(1, |product, &size| product.saturating_mul(size))
    }

    /// The number at a position of the sequence; `None` after the last (`IotaTileAssignment::value_at` in
    /// `xla/hlo/ir/tile_assignment.cc`).
    ///
    /// ```
    /// use xla_shape_core::shard::Iota;
    ///
    /// let iota = Iota::new(&[4, 2], &[1, 0])?;
    /// assert_eq!((iota.get(1), iota.get(8)), (Some(2), None));
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    #[must_use]
    pub fn get(&self, position: u64) -> Option<u64> {
        if position >= self.count() {
            return None;
        }
        // From the most minor dimension of the transposed array to the most major.
        let mut rest = position;
        let mut value = 0_u64;
        for &dimension in self.permutation.iter().rev() {
            let size = *self.dimensions.get(dimension)?;
            let stride = self.stride(dimension);
            value = value.saturating_add(rest.checked_rem(size)?.saturating_mul(stride));
            rest = rest.checked_div(size)?;
        }
        Some(value)
    }

    /// The position of a number in the sequence; `None` if the sequence does not have it.
    ///
    /// ```
    /// use xla_shape_core::shard::Iota;
    ///
    /// let iota = Iota::new(&[4, 2], &[1, 0])?;
    /// assert_eq!((iota.position(2), iota.position(8)), (Some(1), None));
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    #[must_use]
    pub fn position(&self, number: u64) -> Option<u64> {
        if number >= self.count() {
            return None;
        }
        let mut position = 0_u64;
        for &dimension in &self.permutation {
            let size = *self.dimensions.get(dimension)?;
            let digit = number.checked_div(self.stride(dimension))?.checked_rem(size)?;
            position = position.saturating_mul(size).saturating_add(digit);
        }
        Some(position)
    }

    /// The stride of a dimension: how much the number grows per index.
    fn stride(&self, dimension: usize) -> u64 {
        let minor = self.dimensions.get((dimension + 1)..).unwrap_or(&[]);
        minor.iter().fold(1, |product, &size| product.saturating_mul(size))
    }

    /// The dimensions of the transposed array, each as (dimension of the array, size).
    fn transposed(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> + '_ {
        self.permutation.iter().map(|&dimension| (dimension, self.dimensions.get(dimension).copied().unwrap_or(1)))
    }

    /// Reshapes the sequence to `shape` and transposes it by `permutation`, as `IotaTileAssignment::Transpose` does.
    /// `None` if the result is not an iota, because a dimension of `shape` overlaps a dimension of the transposed array
    /// and neither divides the other.
    fn transpose(&self, shape: &[u64], permutation: &[usize]) -> Option<Self> {
        // Split the dimensions of both shapes into common factors: for each dimension of `shape`, its factors as
        // (dimension of the iota, size).
        let mut factors = Vec::<Vec<(usize, u64)>>::new();
        let mut source = self.transposed();
        let mut current = (0, 1_u64);
        for &size in shape {
            let mut rest = size;
            let mut own = Vec::new();
            while rest > 1 {
                if current.1 == 1 {
                    current = source.next()?;
                }
                let (dimension, left) = current;
                let factor = if rest >= left {
                    if rest.checked_rem(left)? != 0 {
                        return None;
                    }
                    left
                } else if left.checked_rem(rest)? == 0 {
                    rest
                } else {
                    return None;
                };
                own.push((dimension, factor));
                current.1 = left.checked_div(factor)?;
                rest = rest.checked_div(factor)?;
            }
            factors.push(own);
        }
        // The factors of each dimension of the iota, from major to minor, are its new dimensions.
        let mut dimensions = Vec::new();
        let mut numbers = factors.iter().map(|own| vec![0_usize; own.len()]).collect::<Vec<_>>();
        for dimension in 0..self.dimensions.len() {
            for (own, numbers) in factors.iter().zip(&mut numbers) {
                for (&(source, size), number) in own.iter().zip(numbers) {
                    if source == dimension {
                        *number = dimensions.len();
                        dimensions.push(size);
                    }
                }
            }
        }
        let order = permutation.iter().filter_map(|&i| numbers.get(i)).flatten().copied().collect::<Vec<_>>();
        Some(Self::canonical(&dimensions, &order))
    }

    /// The sequence with each group of `size` neighbours sorted; `None` if this function does not find an iota for it.
    fn sort_groups(&self, size: u64) -> Option<Self> {
        if self.transposed().next_back().is_some_and(|(_, last)| last == size) {
            return Some(self.clone());
        }
        let mut dimensions = self.dimensions.iter().map(|&size| (size, 1_u64)).collect::<Vec<_>>();
        let mut grouped = Vec::new();
        let mut outside = self.permutation.clone();
        let mut rest = size;
        while rest > 1 {
            let dimension = outside.pop()?;
            let (major, minor) = dimensions.get_mut(dimension)?;
            if *major <= rest {
                if rest.checked_rem(*major)? != 0 {
                    return None;
                }
                rest = rest.checked_div(*major)?;
                (*major, *minor) = (1, *major);
            } else {
                if major.checked_rem(rest)? != 0 {
                    return None;
                }
                (*major, *minor) = (major.checked_div(rest)?, rest);
                rest = 1;
                outside.push(dimension);
            }
            grouped.push(dimension);
        }
        sort(&mut grouped);
        let sizes = dimensions.iter().flat_map(|&(major, minor)| [major, minor]).collect::<Vec<_>>();
        let major = |&dimension: &usize| dimension * 2;
        let minor = |&dimension: &usize| dimension * 2 + 1;
        let mut order = outside.iter().map(major).collect::<Vec<_>>();
        order.extend(grouped.iter().map(minor));
        // Parts in neither list have size 1 and are dropped.
        Some(Self::canonical(&sizes, &order))
    }
}

/// The devices of a [`TileAssignment`], in row-major order of the tiles.
///
/// ```
/// use xla_shape_core::shard::{Devices, Iota};
///
/// assert_eq!(Devices::List(vec![0, 1, 2, 3]), Devices::Iota(Iota::in_order(4)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Devices {
    /// `0,2,1,3`: an explicit list.
    List(Vec<i64>),
    /// `<=[2,2]T(1,0)`: the numbers from 0 in the order of an iota.
    Iota(Iota),
}

impl Devices {
    /// The number of devices.
    ///
    /// ```
    /// use xla_shape_core::shard::Devices;
    ///
    /// let devices = Devices::List(vec![0, 2, 1, 3]);
    /// assert_eq!(devices.count(), 4);
    /// ```
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::List(list) => list.len() as u64,
            Self::Iota(iota) => iota.count(),
        }
    }

    /// The device at a position; `None` after the last.
    ///
    /// ```
    /// use xla_shape_core::shard::Devices;
    ///
    /// let devices = Devices::List(vec![0, 2, 1, 3]);
    /// assert_eq!((devices.get(1), devices.get(4)), (Some(2), None));
    /// ```
    #[must_use]
    pub fn get(&self, position: u64) -> Option<i64> {
        match self {
            Self::List(list) => list.get(usize::try_from(position).ok()?).copied(),
            Self::Iota(iota) => iota.get(position).and_then(|number| i64::try_from(number).ok()),
        }
    }

    /// The first position of a device; `None` if it is not in the sequence.
    ///
    /// ```
    /// use xla_shape_core::shard::Devices;
    ///
    /// let devices = Devices::List(vec![0, 2, 1, 3]);
    /// assert_eq!((devices.position(2), devices.position(7)), (Some(1), None));
    /// ```
    #[must_use]
    pub fn position(&self, device: i64) -> Option<u64> {
        match self {
            Self::List(list) => list.iter().position(|&other| other == device).map(|position| position as u64),
            Self::Iota(iota) => iota.position(u64::try_from(device).ok()?),
        }
    }

    /// The devices as an iota, also where a list is one; `None` for another list.
    ///
    /// ```
    /// use xla_shape_core::shard::{Devices, Iota};
    ///
    /// assert_eq!(Devices::List(vec![0, 2, 1, 3]).to_iota(), Some(Iota::new(&[2, 2], &[1, 0])?));
    /// assert_eq!(Devices::List(vec![0, 1, 3, 2]).to_iota(), None);
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    #[must_use]
    pub fn to_iota(&self) -> Option<Iota> {
        match self {
            Self::List(list) => Iota::of_list(list),
            Self::Iota(iota) => Some(iota.clone()),
        }
    }

    /// Iterates over the devices.
    ///
    /// ```
    /// use xla_shape_core::shard::{Devices, Iota};
    ///
    /// let devices = Devices::Iota(Iota::new(&[2, 2], &[1, 0])?);
    /// assert!(devices.iter().eq([0, 2, 1, 3]));
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.count()).map_while(|position| self.get(position))
    }

    /// The devices as a list.
    ///
    /// ```
    /// use xla_shape_core::shard::{Devices, Iota};
    ///
    /// let devices = Devices::Iota(Iota::new(&[2, 2], &[1, 0])?);
    /// assert_eq!(devices.to_list()?, [0, 2, 1, 3]);
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    ///
    /// # Errors
    /// If they are an iota of more than [`MAX_LISTED_DEVICES`] devices.
    pub fn to_list(&self) -> Result<Vec<i64>, ShardingError> {
        match self {
            Self::List(list) => Ok(list.clone()),
            Self::Iota(iota) if iota.count() > MAX_LISTED_DEVICES => {
                Err(ShardingError::TooManyToList { devices: iota.count(), limit: MAX_LISTED_DEVICES })
            }
            Self::Iota(_) => Ok(self.iter().collect()),
        }
    }
}

impl PartialEq for Devices {
    /// A list equals an iota if both are the same sequence.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Iota(a), Self::Iota(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            _ => self.count() == other.count() && self.iter().eq(other.iter()),
        }
    }
}

impl Eq for Devices {}

/// An array of devices, one for each tile: `TileAssignment` in `xla/hlo/ir/tile_assignment.h`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileAssignment {
    dimensions: Vec<u64>,
    devices: Devices,
}

impl TileAssignment {
    /// An array of `dimensions` that holds these devices in row-major order.
    ///
    /// ```
    /// use xla_shape_core::shard::{Devices, Sharding, TileAssignment};
    ///
    /// let assignment = TileAssignment::new(vec![2, 2], Devices::List(vec![0, 3, 1, 2]))?;
    /// assert_eq!(Sharding::tiled(assignment, &[])?.to_string(), "{devices=[2,2]0,3,1,2}");
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is 0, or the number of devices is not the product of the dimensions.
    pub fn new(dimensions: Vec<u64>, devices: Devices) -> Result<Self, ShardingError> {
        let (expected, found) = (product(&dimensions)?, devices.count());
        if expected == found {
            return Ok(Self { dimensions, devices });
        }
        Err(match devices {
            Devices::List(_) => ShardingError::DeviceCount { expected, found },
            Devices::Iota(_) => ShardingError::IotaSize { expected, found },
        })
    }

    /// An array of `dimensions` that holds the devices 0, 1, … in row-major order.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, TileAssignment};
    ///
    /// let assignment = TileAssignment::in_order(&[2, 2])?;
    /// assert_eq!(Sharding::tiled(assignment, &[])?.to_string(), "{devices=[2,2]<=[4]}");
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is 0, or their product exceeds `i64::MAX`.
    pub fn in_order(dimensions: &[u64]) -> Result<Self, ShardingError> {
        let count = product(dimensions)?;
        Self::new(dimensions.to_vec(), Devices::Iota(Iota::in_order(count)))
    }

    /// The number of tiles along each dimension of the data, followed by the sizes of the subgroups.
    ///
    /// ```
    /// use xla_shape_core::shard::TileAssignment;
    ///
    /// assert_eq!(TileAssignment::in_order(&[2, 4])?.dimensions(), [2, 4]);
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    #[must_use]
    pub fn dimensions(&self) -> &[u64] {
        &self.dimensions
    }

    /// The devices, in row-major order.
    ///
    /// ```
    /// use xla_shape_core::shard::TileAssignment;
    ///
    /// assert_eq!(TileAssignment::in_order(&[2, 4])?.devices().count(), 8);
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    #[must_use]
    pub const fn devices(&self) -> &Devices {
        &self.devices
    }

    /// The same devices in an array of other dimensions with the same number of elements.
    pub(super) fn reshape(self, dimensions: Vec<u64>) -> Self {
        debug_assert_eq!(product(&dimensions), product(&self.dimensions), "a reshape keeps the devices");
        Self { dimensions, ..self }
    }

    /// The transposed array: its dimension `i` is dimension `permutation[i]` of this one.
    pub(super) fn transpose(&self, permutation: &[usize]) -> Result<Self, ShardingError> {
        let size = |&dimension: &usize| self.dimensions.get(dimension).copied().unwrap_or(1);
        let dimensions = permutation.iter().map(size).collect::<Vec<_>>();
        // Moving dimensions of size 1 changes no order.
        if permutation.iter().filter(|&dimension| size(dimension) != 1).is_sorted() {
            return Ok(Self { dimensions, devices: self.devices.clone() });
        }
        if let Devices::Iota(iota) = &self.devices
            && let Some(iota) = iota.transpose(&self.dimensions, permutation)
        {
            return Ok(Self { dimensions, devices: Devices::Iota(iota) });
        }
        let list = self.devices.to_list()?;
        // The stride of each dimension in the list.
        let mut strides = vec![1_u64; self.dimensions.len()];
        let mut product = 1_u64;
        for (stride, &size) in strides.iter_mut().zip(&self.dimensions).rev() {
            *stride = product;
            product = product.saturating_mul(size);
        }
        let digit = |&dimension: &usize| Some((size(&dimension), *strides.get(dimension)?));
        let digits = permutation.iter().filter_map(digit).filter(|&(size, _)| size != 1).collect::<Vec<_>>();
        let device = |position: u64| {
            let mut rest = position;
            let mut source = 0_u64;
            for &(size, stride) in digits.iter().rev() {
                source = source.saturating_add(rest.checked_rem(size)?.saturating_mul(stride));
                rest = rest.checked_div(size)?;
            }
            list.get(usize::try_from(source).ok()?).copied()
        };
        let devices = (0..list.len() as u64).map_while(device).collect();
        Ok(Self { dimensions, devices: Devices::List(devices) })
    }

    /// Sorts the devices of each group along the last dimension. They hold copies, whose order has no meaning.
    pub(super) fn sort_last_dimension(self) -> Result<Self, ShardingError> {
        let Some(&group) = self.dimensions.last() else { return Ok(self) };
        if let Devices::Iota(iota) = &self.devices
            && let Some(iota) = iota.sort_groups(group)
        {
            return Ok(Self { devices: Devices::Iota(iota), ..self });
        }
        let mut list = self.devices.to_list()?;
        let group = usize::try_from(group).unwrap_or(usize::MAX).max(1);
        list.chunks_mut(group).for_each(<[_]>::sort_unstable);
        Ok(Self { devices: Devices::List(list), ..self })
    }
}

/// The product of sizes, which is the number of devices.
pub(super) fn product(sizes: &[u64]) -> Result<u64, ShardingError> {
    let mut product = 1_u64;
    for &size in sizes {
        if size == 0 {
            return Err(ShardingError::ZeroSize);
        }
        product = product.checked_mul(size).filter(|&p| p <= i64::MAX as u64).ok_or(ShardingError::TooManyDevices)?;
    }
    Ok(product)
}
