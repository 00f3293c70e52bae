//! Where a tensor is: whole in one file, or divided among the files of devices.

use super::checkpoint::Opened;
use super::partition_of;
use crate::access::Reader;
use crate::error::{Error, FileError};
use crate::format::{Note, check_dimensions, is_stored_as_bytes};
use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use xla_shape::relayout::Slab;
use xla_shape::shard::{MovedRuns, Partition, Region, Sharding, ShardingError};
use xla_shape::{ArrayShape, Dimension, Layout};

/// A tensor of a checkpoint.
pub(super) struct Tensor {
    pub(super) name: String,
    /// The whole of it, row-major.
    pub(super) shape: ArrayShape,
    stored: Stored,
}

enum Stored {
    Whole(Place),
    Divided(Box<Divided>),
}

/// The byte of a file at which a shard, or the whole tensor, begins.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The number of the file.
    pub(super) file: usize,
    pub(super) start: u64,
}

/// A tensor whose shards are in the files of devices.
struct Divided {
    note: Described,
    sharding: Sharding,
    partition: Partition,
    /// A shard with its layout.
    shard: ArrayShape,
    /// The shard of each device.
    places: BTreeMap<i64, Place>,
}

/// What the files of all devices say about a tensor.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Described {
    /// The shape of a shard, with its layout.
    pub(super) shape: String,
    pub(super) whole: String,
    pub(super) sharding: String,
}

impl Described {
    pub(super) fn of(note: &Note) -> Self {
        Self { shape: note.shape.clone(), whole: note.whole.clone(), sharding: note.sharding.clone() }
    }
}

impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in shards of {} by {}", self.whole, self.shape, self.sharding)
    }
}

/// A part of a tensor in a file: the whole of what one device has, or the whole tensor.
pub(super) struct Part {
    place: Place,
    region: Region,
}

/// The region of a tensor that a device needs, and where its elements are stored.
pub(super) struct Needed<'a> {
    /// The index of the first element.
    pub(super) start: &'a [u64],
    /// The shape of a part, with its layout.
    pub(super) shape: &'a ArrayShape,
    /// The parts that overlap the region; of equal copies, only one.
    pub(super) parts: Vec<Part>,
}

impl Tensor {
    pub(super) fn whole(name: String, shape: ArrayShape, place: Place) -> Self {
        Self { name, shape, stored: Stored::Whole(place) }
    }

    /// A tensor that is divided as the file says, before any of its shards is added.
    pub(super) fn divided(name: String, note: Described) -> Result<Self, FileError> {
        let wrong = |error: Box<dyn std::error::Error + Send + Sync>| FileError::Note { tensor: name.clone(), error };
        let parsed = |text: &str| text.parse::<ArrayShape>().map_err(|error| wrong(error.into()));
        let (shape, shard) = (parsed(&note.whole)?, parsed(&note.shape)?);
        for array in [&shape, &shard] {
            check_dimensions(array.num_dimensions())?;
            let mut sizes = array.dimensions().iter();
            if let Some(found) = sizes.find(|size| !matches!(size, Dimension::Static(_))) {
                return Err(wrong(format!("expected static sizes, found {found}").into()));
            }
        }
        let row_major = shape.clone().with_layout(Layout::descending(shape.num_dimensions()));
        if row_major.as_ref() != Ok(&shape) {
            return Err(FileError::NotRowMajor(shape.into()));
        }
        let sharding = note.sharding.parse::<Sharding>().map_err(|error| wrong(error.into()))?;
        let partition = partition_of(&sharding, &shape).map_err(|error| wrong(error.into()))?;
        let expected = partition.shard().clone().with_layout(shard.layout().clone());
        let expected = expected.map_err(|error| wrong(error.into()))?;
        if expected != shard {
            return Err(FileError::OtherShard { tensor: name, expected: expected.into(), found: shard.into() });
        }
        // Elements of other sizes do not begin at whole bytes, so pieces could not be read.
        if !shard.element_bits().is_multiple_of(8) {
            return Err(FileError::PackedShard { tensor: name, shape: shard.into() });
        }
        let divided = Divided { note, sharding, partition, shard, places: BTreeMap::new() };
        Ok(Self { name, shape, stored: Stored::Divided(divided.into()) })
    }

    /// Whether it is divided, and this note of another file describes it in the same way.
    pub(super) fn is_divided_as(&self, note: &Described) -> bool {
        matches!(&self.stored, Stored::Divided(divided) if divided.note == *note)
    }

    /// Adds the shard of a device, which is stored as `stored`.
    pub(super) fn add(&mut self, own: (i64, &Note), stored: &ArrayShape, place: Place) -> Result<(), FileError> {
        match &mut self.stored {
            Stored::Whole(_) => Ok(()),
            Stored::Divided(divided) => divided.add(&self.name, own, stored, place),
        }
    }

    /// A device whose shard is in none of the files.
    pub(super) fn missing(&self) -> Option<i64> {
        let Stored::Divided(divided) = &self.stored else { return None };
        let mut devices = divided.partition.regions().map(|(device, _)| device);
        devices.find(|device| !divided.places.contains_key(device))
    }

    /// What the files say about it, for an error about two tensors of the same name.
    pub(super) fn described(&self) -> String {
        match &self.stored {
            Stored::Whole(_) => self.shape.to_string(),
            Stored::Divided(divided) => divided.note.to_string(),
        }
    }

    /// How it is divided: the sharding, the parts, and the shape of a part with its layout. A tensor that is stored whole is replicated.
    pub(super) fn division(&self) -> Result<(Sharding, Partition, ArrayShape), ShardingError> {
        Ok(match &self.stored {
            Stored::Whole(_) => {
                let sharding = Sharding::REPLICATED;
                let partition = sharding.partition(&self.shape)?;
                (sharding, partition, self.shape.clone())
            }
            Stored::Divided(divided) => (divided.sharding.clone(), divided.partition.clone(), divided.shard.clone()),
        })
    }

    /// Finds where the elements of the region that a device needs are stored. `source` is the division of the tensor, or of its rearrangement, and
    /// `shape` is the shape of a part. If a part has several copies, the device's own is taken; otherwise, different devices take different copies.
    pub(super) fn needed<'a>(
        &self,
        (source, shape): (&Partition, &'a ArrayShape),
        region: &'a Region,
        device: i64,
    ) -> Needed<'a> {
        let start = &region.start;
        let divided = match &self.stored {
            Stored::Whole(place) => {
                let parts = vec![Part { place: *place, region: Region::whole(source.sizes()) }];
                return Needed { start, shape, parts };
            }
            Stored::Divided(divided) => divided,
        };
        let mut copies = BTreeMap::<_, (Region, Vec<(i64, Place)>)>::new();
        for (&holder, &place) in &divided.places {
            // This cannot fail: `add` has looked up each holder's region.
            let Ok(held) = source.region(holder) else { continue };
            if !held.intersection(region).is_empty() {
                copies.entry(held.start.clone()).or_insert((held, Vec::new())).1.push((holder, place));
            }
        }
        let parts = copies.into_values().map(|(region, copies)| {
            let turn = usize::try_from(device).unwrap_or_default() % copies.len();
            let own = copies.iter().find(|(holder, _)| *holder == device);
            Part { place: own.unwrap_or(&copies[turn]).1, region }
        });
        Needed { start, shape, parts: parts.collect() }
    }
}

impl Divided {
    fn add(
        &mut self,
        name: &str,
        (device, note): (i64, &Note),
        stored: &ArrayShape,
        place: Place,
    ) -> Result<(), FileError> {
        let tensor = || name.to_owned();
        if self.shard != *stored && !is_stored_as_bytes(&self.shard, stored) {
            let (shape, found) = (self.shard.clone().into(), stored.clone().into());
            return Err(FileError::StoredShard { tensor: tensor(), shape, found });
        }
        let region = self.partition.region(device);
        let region = region.map_err(|error| FileError::Note { tensor: tensor(), error: error.into() })?;
        if region.start != note.start {
            let (expected, found) = (region.start, note.start.clone());
            return Err(FileError::OtherStart { tensor: tensor(), device, expected, found });
        }
        self.places.insert(device, place);
        Ok(())
    }
}

impl Needed<'_> {
    /// Reads the source of a slab. The slab's source has the layout of the parts.
    pub(super) fn gather(
        &self,
        files: &Opened<'_>,
        slab: &Slab,
        room: &mut [u8],
        scratch: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let (shape, _) = slab.shapes();
        let start = self.start.iter().zip(slab.start()).map(|(whole, own)| whole + own).collect::<Vec<_>>();
        let limit = start.iter().zip(extents(shape)).map(|(start, extent)| start + extent).collect();
        let slab = Region { start: start.clone(), limit };
        let mut found = 0;
        for part in &self.parts {
            let common = part.region.intersection(&slab);
            if common.is_empty() {
                continue;
            }
            let (path, source) = files.get(part.place.file)?;
            let short = || Error::read(path, ErrorKind::UnexpectedEof.into());
            let runs = MovedRuns::new((self.shape, part.region.start.clone()), (shape, start.clone()), &common);
            let mut reader = Reader::new(&source, room, scratch);
            for run in runs.map_err(|_| short())? {
                let range = |array: &ArrayShape, start: u64| array.byte_range(&(start..start.checked_add(run.len)?));
                let (Some(from), Some(to)) = (range(self.shape, run.from), range(shape, run.to)) else {
                    return Err(short());
                };
                let read = reader.add(part.place.start + from.start, to.start as usize..to.end as usize);
                read.map_err(|error| Error::read(path, error))?;
                found += run.len;
            }
            reader.flush().map_err(|error| Error::read(path, error))?;
        }
        // The parts do not overlap. If they do not cover the slab, some of its bytes were never read.
        match found == slab.elements() {
            true => Ok(()),
            false => Err(Error::read(files.name(), ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// The size of each dimension.
pub(super) fn extents(array: &ArrayShape) -> Vec<u64> {
    array.dimensions().iter().map(|dimension| dimension.extent().unwrap_or_default()).collect()
}
