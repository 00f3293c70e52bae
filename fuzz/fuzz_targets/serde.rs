//! Any bytes as JSON and as postcard's structure: an answer; what is read is written as what means it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use xla_shape::{Layout, LegacyShape, ProgramShape, Shape};

fn there_and_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) {
    if let Ok(value) = serde_json::from_slice::<T>(bytes) {
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(serde_json::from_str::<T>(&text).unwrap(), value);
    }
    if let Ok(value) = postcard::from_bytes::<T>(bytes) {
        let bytes = postcard::to_allocvec(&value).unwrap();
        assert_eq!(postcard::from_bytes::<T>(&bytes).unwrap(), value);
    }
}

fuzz_target!(|bytes: &[u8]| {
    there_and_back::<Shape>(bytes);
    there_and_back::<Layout>(bytes);
    there_and_back::<LegacyShape>(bytes);
    there_and_back::<ProgramShape>(bytes);
});
