//! The groups of devices of a collective.

use alloc::vec::Vec;
use xla_shape_core::shard::{Devices, Iota, ShardingError, replica_groups};

/// The groups of devices that take part in a collective together: `replica_groups`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ReplicaGroups<'a> {
    /// `{{0,1},{2,3}}`: each group in full. An empty list means one group of all devices.
    Lists(Vec<Vec<usize>>),
    /// `[groups,size]<=[dimensions]T(permutation)`: the numbers 0, 1, … reshaped to `dimensions`, transposed, and reshaped
    /// to `[groups,size]`: each row is a group (`xla/hlo/ir/tile_assignment.cc`, `IotaTileAssignment`).
    Iota {
        /// The number of groups, then the size of each.
        shape: Vec<usize>,
        /// The dimensions that the numbers are first reshaped to.
        dimensions: Vec<usize>,
        /// The transposition, if there is one.
        permutation: Option<Vec<usize>>,
    },
    /// `mesh['x'=2,'y'=2] {'x'}`: groups along axes of a mesh, as written.
    Mesh(&'a str),
}

impl ReplicaGroups<'_> {
    /// The groups as lists of device numbers; `None` for groups along the axes of a mesh.
    ///
    /// ```
    /// use xla_shape_hlo::ReplicaGroups;
    ///
    /// let groups = ReplicaGroups::Iota { shape: vec![2, 2], dimensions: vec![2, 2], permutation: Some(vec![1, 0]) };
    /// assert_eq!(groups.expand()?, Some(vec![vec![0, 2], vec![1, 3]]));
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    ///
    /// # Errors
    /// If `shape`, `dimensions` and `permutation` do not fit together, or there are too many devices to list.
    pub fn expand(&self) -> Result<Option<Vec<Vec<usize>>>, ShardingError> {
        let wide = |sizes: &[usize]| sizes.iter().map(|&size| size as u64).collect::<Vec<_>>();
        match self {
            Self::Lists(lists) => Ok(Some(lists.clone())),
            Self::Iota { shape, dimensions, permutation } => {
                let in_order = (0..dimensions.len()).collect::<Vec<_>>();
                let iota = Iota::new(&wide(dimensions), permutation.as_deref().unwrap_or(&in_order))?;
                let expected = shape.len();
                let &[groups, size] = shape.as_slice() else {
                    return Err(ShardingError::Rank { expected: 2, found: expected });
                };
                let groups = replica_groups(groups as u64, size as u64, &Devices::Iota(iota))?;
                let numbers = |group: Vec<i64>| group.into_iter().filter_map(|device| usize::try_from(device).ok());
                Ok(Some(groups.into_iter().map(|group| numbers(group).collect()).collect()))
            }
            Self::Mesh(_) => Ok(None),
        }
    }
}
