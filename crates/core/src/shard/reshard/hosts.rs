//! Which devices are near to each other.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU64;
use core::str::FromStr;

/// Which devices are on the same host, and so near to each other: a number of devices for each host, or a list of devices for each.
///
/// Its text is a number, or groups as XLA writes them. A device in none of the groups is alone on its host.
///
/// ```
/// use xla_shape_core::shard::{Hosts, HostsError, Sharding};
///
/// // Devices 0 and 2 have the first four rows, 1 and 3 the last.
/// let from: Sharding = "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}".parse()?;
/// let reshard = from.reshard(&Sharding::REPLICATED, &"f32[8,8]".parse()?)?;
/// let hosts: Hosts = "{{0,3},{1,2}}".parse()?;
/// let reshard = reshard.with_hosts(hosts);
/// assert!(reshard.transfers().map(|part| (part.to, part.from)).eq([(0, 3), (2, 1), (1, 2), (3, 0)]));
///
/// assert_eq!("4".parse::<Hosts>()?, Hosts::of_size(4.try_into()?));
/// assert_eq!("{{0,1},{1}}".parse::<Hosts>(), Err(HostsError::Twice { device: 1 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hosts(Kind);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    /// Each host has n devices: the first host has devices 0 to n - 1, and so on.
    OfSize(NonZeroU64),
    Listed {
        groups: Vec<Vec<i64>>,
        /// The number of the group of each device.
        of: BTreeMap<i64, usize>,
    },
}

/// Why a text or a list is not valid as hosts.
///
/// ```
/// use xla_shape_core::shard::{Hosts, HostsError};
///
/// let error = "{{0,1},{2,}}".parse::<Hosts>().unwrap_err();
/// assert_eq!(error, HostsError::Text { expected: "the number of a device", at: 10 });
/// assert_eq!(error.to_string(), "expected the number of a device at byte 10 of the hosts");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HostsError {
    /// The text is not what the grammar expects.
    Text {
        /// What should be there.
        expected: &'static str,
        /// At which byte.
        at: usize,
    },
    /// A device is on two hosts, or twice on one.
    Twice {
        /// The device.
        device: i64,
    },
}

impl fmt::Display for HostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { expected, at } => write!(f, "expected {expected} at byte {at} of the hosts"),
            Self::Twice { device } => write!(f, "expected each device on one host, found device {device} again"),
        }
    }
}

impl core::error::Error for HostsError {}

impl Hosts {
    /// Hosts with `devices` devices each: the first host has devices 0 to `devices - 1`, and so on.
    ///
    /// ```
    /// use xla_shape_core::shard::Hosts;
    ///
    /// assert_eq!(Hosts::of_size(4.try_into()?), "4".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn of_size(devices: NonZeroU64) -> Self {
        Self(Kind::OfSize(devices))
    }

    /// The devices of each host.
    ///
    /// ```
    /// use xla_shape_core::shard::Hosts;
    ///
    /// assert_eq!(Hosts::listed(vec![vec![0, 2], vec![1, 3]])?, "{{0,2},{1,3}}".parse()?);
    /// # Ok::<(), xla_shape_core::shard::HostsError>(())
    /// ```
    ///
    /// # Errors
    /// If a device occurs twice.
    pub fn listed(groups: Vec<Vec<i64>>) -> Result<Self, HostsError> {
        let mut of = BTreeMap::new();
        for (number, group) in groups.iter().enumerate() {
            if let Some(&device) = group.iter().find(|&&device| of.insert(device, number).is_some()) {
                return Err(HostsError::Twice { device });
            }
        }
        Ok(Self(Kind::Listed { groups, of }))
    }

    /// The most devices of a host.
    ///
    /// ```
    /// use xla_shape_core::shard::Hosts;
    ///
    /// assert_eq!("{{0},{1,2,3}}".parse::<Hosts>()?.most_devices(), 3);
    /// # Ok::<(), xla_shape_core::shard::HostsError>(())
    /// ```
    #[must_use]
    pub fn most_devices(&self) -> u64 {
        match &self.0 {
            Kind::OfSize(devices) => devices.get(),
            Kind::Listed { groups, .. } => groups.iter().map(|group| group.len() as u64).max().unwrap_or(0),
        }
    }

    /// The host of a device; `None` if it is alone.
    pub(super) fn host(&self, device: i64) -> Option<u64> {
        match &self.0 {
            Kind::OfSize(devices) => u64::try_from(device).ok()?.checked_div(devices.get()),
            Kind::Listed { of, .. } => of.get(&device).map(|&number| number as u64),
        }
    }

    /// Whether two devices are on the same host.
    pub(super) fn are_near(&self, one: i64, other: i64) -> bool {
        one == other || (self.host(one).is_some() && self.host(one) == self.host(other))
    }

    /// The devices of the host of this one.
    pub(super) fn beside(&self, device: i64) -> impl Iterator<Item = i64> + '_ {
        let host = self.host(device);
        let listed: &[i64] = match &self.0 {
            Kind::OfSize(_) => &[],
            Kind::Listed { groups, .. } => {
                host.and_then(|host| groups.get(usize::try_from(host).ok()?)).map_or(&[], Vec::as_slice)
            }
        };
        let range = match &self.0 {
            Kind::OfSize(devices) => host.and_then(|host| {
                let first = host.checked_mul(devices.get())?;
                Some(first..first.saturating_add(devices.get()))
            }),
            Kind::Listed { .. } => None,
        };
        let range = range.into_iter().flatten().filter_map(|device| i64::try_from(device).ok());
        listed.iter().copied().chain(range)
    }
}

impl FromStr for Hosts {
    type Err = HostsError;

    fn from_str(text: &str) -> Result<Self, HostsError> {
        if !text.trim_start().starts_with('{') {
            let number = text.trim().parse().ok().and_then(NonZeroU64::new);
            let expected = "a number of devices, or groups such as {{0,1},{2,3}},";
            return number.map(Self::of_size).ok_or(HostsError::Text { expected, at: 0 });
        }
        let mut reader = Reader { text, at: 0 };
        let mut groups = Vec::new();
        reader.take('{', "`{`")?;
        loop {
            reader.take('{', "`{`")?;
            let mut group = Vec::new();
            loop {
                group.push(reader.device()?);
                if !reader.has(',') {
                    break;
                }
            }
            reader.take('}', "`,` or `}`")?;
            groups.push(group);
            if !reader.has(',') {
                break;
            }
        }
        reader.take('}', "`,` or `}`")?;
        if reader.rest().is_empty() {
            Self::listed(groups)
        } else {
            Err(HostsError::Text { expected: "the end", at: reader.at })
        }
    }
}

/// Reads a text of groups.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    /// The rest of the text, without the white space before it.
    fn rest(&mut self) -> &str {
        let rest = self.text.get(self.at..).unwrap_or("").trim_start();
        self.at = self.text.len().saturating_sub(rest.len());
        rest
    }

    fn has(&mut self, letter: char) -> bool {
        let has = self.rest().starts_with(letter);
        self.at += if has { letter.len_utf8() } else { 0 };
        has
    }

    fn take(&mut self, letter: char, expected: &'static str) -> Result<(), HostsError> {
        if self.has(letter) { Ok(()) } else { Err(HostsError::Text { expected, at: self.at }) }
    }

    fn device(&mut self) -> Result<i64, HostsError> {
        let rest = self.rest();
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest.get(..end).and_then(|digits| digits.parse().ok());
        let number = number.ok_or(HostsError::Text { expected: "the number of a device", at: self.at })?;
        self.at += end;
        Ok(number)
    }
}
