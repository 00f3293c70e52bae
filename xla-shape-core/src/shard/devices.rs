//! Which device has which tile: a list, or numbers 0, 1, … as a transposed array, which stays symbolic.

use super::error::ShardingError;
use crate::layout::number::{first_not_distinct, with_seen};
use alloc::vec;
use alloc::vec::Vec;

/// The most devices that are listed where an operation on an iota has no symbolic result.
///
/// Lists in a text may be longer, as the text has their length already. An iota of any size stays an iota.
pub const MAX_LISTED_DEVICES: u64 = 1 << 20;

/// The numbers 0, 1, … as an array, transposed, read in row-major order: `[4,2]T(1,0)` is 0, 2, 4, 6, 1, 3, 5, 7.
///
/// It is canonical like in XLA: no dimension has size 1, and none could be merged with its neighbour. So two of them are the
/// same sequence exactly when they are equal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Iota {
    dimensions: Vec<u64>,
    permutation: Vec<usize>,
}

impl Iota {
    /// The numbers 0 to `count` - 1 in order.
    #[must_use]
    pub fn in_order(count: u64) -> Self {
        Self { dimensions: vec![count], permutation: vec![0] }
    }

    /// The numbers 0, 1, … as an array of `dimensions`, transposed so that its dimension `i` is `permutation[i]` of those.
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

    /// Without dimensions of size 1, and with neighbours that stay neighbours merged.
    fn canonical(dimensions: &[u64], permutation: &[usize]) -> Self {
        let size = |dimension: usize| dimensions.get(dimension).copied().unwrap_or(1);
        // The number of each dimension among those that are left.
        let mut left = 0_usize;
        let mut numbers = Vec::with_capacity(dimensions.len());
        for &size in dimensions {
            numbers.push(left);
            left = left.saturating_add(usize::from(size != 1));
        }
        let number = |dimension: usize| numbers.get(dimension).copied().unwrap_or(0);
        // Runs of the permutation: the first dimension of each, and its size.
        let mut runs = Vec::<(usize, u64)>::new();
        let mut next = None;
        for &dimension in permutation.iter().filter(|&&dimension| size(dimension) != 1) {
            let this = number(dimension);
            match runs.last_mut() {
                Some((_, run)) if next == Some(this) => *run = run.saturating_mul(size(dimension)),
                _ => runs.push((this, size(dimension))),
            }
            next = Some(this.saturating_add(1));
        }
        if runs.is_empty() {
            return Self::in_order(1);
        }
        let mut sorted = runs.clone();
        sorted.sort_unstable();
        let place = |run: &(usize, u64)| sorted.binary_search(run).unwrap_or(0);
        let permutation = runs.iter().map(place).collect();
        Self { dimensions: sorted.into_iter().map(|(_, size)| size).collect(), permutation }
    }

    /// The dimensions of the array that the numbers fill, before it is transposed.
    #[must_use]
    pub fn dimensions(&self) -> &[u64] {
        &self.dimensions
    }

    /// Which of the dimensions becomes the first, the second, ….
    #[must_use]
    pub fn permutation(&self) -> &[usize] {
        &self.permutation
    }

    /// Whether the numbers are in order.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.dimensions.len() == 1
    }

    /// How many numbers there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.dimensions.iter().fold(1, |product, &size| product.saturating_mul(size))
    }

    /// The number at a position; `None` after the last.
    #[must_use]
    pub fn get(&self, position: u64) -> Option<u64> {
        if position >= self.count() {
            return None;
        }
        // From the minor dimension of the transposed array on.
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

    /// Where a number stands; `None` if it is too large.
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

    /// By how much the number grows along a dimension.
    fn stride(&self, dimension: usize) -> u64 {
        let behind = self.dimensions.get(dimension.saturating_add(1)..).unwrap_or(&[]);
        behind.iter().fold(1, |product, &size| product.saturating_mul(size))
    }

    /// The sizes in the order of the transposed array, each with its dimension.
    fn transposed(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> + '_ {
        self.permutation.iter().map(|&dimension| (dimension, self.dimensions.get(dimension).copied().unwrap_or(1)))
    }

    /// The same numbers where the transposed array, seen as one of `shape`, is transposed once more; `None` if a dimension of
    /// that shape begins or ends inside one of the iota and does not divide it.
    fn transpose(&self, shape: &[u64], permutation: &[usize]) -> Option<Self> {
        // Cuts both into common factors: for each dimension of `shape`, its factors as (dimension of the iota, size).
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
                for (&(of, size), number) in own.iter().zip(numbers) {
                    if of == dimension {
                        *number = dimensions.len();
                        dimensions.push(size);
                    }
                }
            }
        }
        let order = permutation.iter().filter_map(|&i| numbers.get(i)).flatten().copied().collect::<Vec<_>>();
        Some(Self::canonical(&dimensions, &order))
    }

    /// The same numbers with each group of `size` neighbours sorted; `None` if that is not an iota in an obvious way.
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
        grouped.sort_unstable();
        let sizes = dimensions.iter().flat_map(|&(major, minor)| [major, minor]).collect::<Vec<_>>();
        let major = |&dimension: &usize| dimension.saturating_mul(2);
        let minor = |&dimension: &usize| dimension.saturating_mul(2).saturating_add(1);
        let mut order = outside.iter().map(major).collect::<Vec<_>>();
        order.extend(grouped.iter().map(minor));
        // What stands in neither list has size 1, and vanishes.
        Some(Self::canonical(&sizes, &order))
    }
}

/// The devices of tiles, in row-major order of the tiles.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Devices {
    /// `0,2,1,3`: their numbers.
    List(Vec<i64>),
    /// `<=[2,2]T(1,0)`: numbers from 0 on.
    Iota(Iota),
}

impl Devices {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::List(list) => list.len() as u64,
            Self::Iota(iota) => iota.count(),
        }
    }

    /// The device at a position; `None` after the last.
    #[must_use]
    pub fn get(&self, position: u64) -> Option<i64> {
        match self {
            Self::List(list) => list.get(usize::try_from(position).ok()?).copied(),
            Self::Iota(iota) => iota.get(position).and_then(|number| i64::try_from(number).ok()),
        }
    }

    /// The first position of a device; `None` if it is not among them.
    #[must_use]
    pub fn position(&self, device: i64) -> Option<u64> {
        match self {
            Self::List(list) => list.iter().position(|&other| other == device).map(|position| position as u64),
            Self::Iota(iota) => iota.position(u64::try_from(device).ok()?),
        }
    }

    /// All of them, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.count()).map_while(|position| self.get(position))
    }

    /// All of them in a list.
    ///
    /// # Errors
    /// If they are an iota of more than [`MAX_LISTED_DEVICES`].
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
    /// A list that is an iota is equal to it.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Iota(a), Self::Iota(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            _ => self.count() == other.count() && self.iter().eq(other.iter()),
        }
    }
}

impl Eq for Devices {}

/// An array of devices: which of them has which tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileAssignment {
    dimensions: Vec<u64>,
    devices: Devices,
}

impl TileAssignment {
    /// An array of `dimensions` with these devices in row-major order.
    ///
    /// # Errors
    /// If a dimension is 0, or there are not as many devices as the array has places.
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

    /// How many tiles there are in each direction; after those of the data, the sizes of subgroups.
    #[must_use]
    pub fn dimensions(&self) -> &[u64] {
        &self.dimensions
    }

    /// The devices, in row-major order.
    #[must_use]
    pub const fn devices(&self) -> &Devices {
        &self.devices
    }

    /// The same devices in an array of other dimensions with as many places.
    pub(super) fn reshape(self, dimensions: Vec<u64>) -> Self {
        debug_assert_eq!(product(&dimensions), product(&self.dimensions), "a reshape keeps the devices");
        Self { dimensions, ..self }
    }

    /// The array transposed: its dimension `i` is the old `permutation[i]`.
    pub(super) fn transpose(&self, permutation: &[usize]) -> Result<Self, ShardingError> {
        let size = |&dimension: &usize| self.dimensions.get(dimension).copied().unwrap_or(1);
        let dimensions = permutation.iter().map(size).collect::<Vec<_>>();
        // Dimensions of size 1 may go anywhere.
        if permutation.iter().filter(|&dimension| size(dimension) != 1).is_sorted() {
            return Ok(Self { dimensions, devices: self.devices.clone() });
        }
        if let Devices::Iota(iota) = &self.devices
            && let Some(iota) = iota.transpose(&self.dimensions, permutation)
        {
            return Ok(Self { dimensions, devices: Devices::Iota(iota) });
        }
        let list = self.devices.to_list()?;
        // By how much the position grows along each dimension.
        let mut strides = vec![1_u64; self.dimensions.len()];
        let mut behind = 1_u64;
        for (stride, &size) in strides.iter_mut().zip(&self.dimensions).rev() {
            *stride = behind;
            behind = behind.saturating_mul(size);
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

    /// The same with the devices of each group, along the last dimension, sorted: copies have no order.
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

impl TileAssignment {
    /// The numbers 0, 1, … in order, as an array of `dimensions`.
    ///
    /// # Errors
    /// If a dimension is 0, or their product exceeds `i64::MAX`.
    pub fn in_order(dimensions: &[u64]) -> Result<Self, ShardingError> {
        let count = product(dimensions)?;
        Self::new(dimensions.to_vec(), Devices::Iota(Iota::in_order(count)))
    }
}

/// The product of sizes, which is how many devices there are.
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
