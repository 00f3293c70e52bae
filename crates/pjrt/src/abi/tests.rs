//! Compares the declarations with the header.

use super::{
    API_MAJOR, API_MINOR, Api, IMMUTABLE_ONLY_DURING_CALL, LAYOUTS_EXTENSION, LayoutsExtension, SHARDINGS_EXTENSION,
    ShardingsExtension, TILED, named_value,
};
use crate::error::CODES;
use std::collections::BTreeMap;
use xla_shape::ElementType;

/// The sizes, offsets and numbers that a C compiler has found in the headers.
const HEADER: &str = include_str!("abi.txt");

#[test]
fn sizes_and_offsets_are_those_of_the_header() {
    let header: BTreeMap<&str, usize> = HEADER
        .lines()
        .filter(|line| !line.contains(" = "))
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(name, number)| (name, number.parse().unwrap()))
        .collect();
    let mut declared: BTreeMap<String, usize> = super::arguments::declared().into_iter().collect();
    for (table, functions) in [
        ("PJRT_Api", Api::FUNCTIONS),
        ("PJRT_Layouts_Extension", LayoutsExtension::FUNCTIONS),
        ("PJRT_Shardings_Extension", ShardingsExtension::FUNCTIONS),
    ] {
        declared.extend(functions.iter().map(|(name, offset)| (format!("{table}.{name}"), *offset)));
    }
    assert!(declared.len() > 400, "{}", declared.len());
    let declared: BTreeMap<&str, usize> = declared.iter().map(|(name, number)| (name.as_str(), *number)).collect();
    assert_eq!(declared, header);
}

#[test]
fn numbers_are_those_of_the_header() {
    let header: BTreeMap<&str, i32> = HEADER
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, number)| (name, number.parse().unwrap()))
        .collect();
    let mut declared: BTreeMap<String, i32> = [
        ("PJRT_API_MAJOR", API_MAJOR),
        ("PJRT_API_MINOR", API_MINOR),
        ("PJRT_Extension_Type_Layouts", LAYOUTS_EXTENSION),
        ("PJRT_Extension_Type_Shardings", SHARDINGS_EXTENSION),
        ("PJRT_HostBufferSemantics_kImmutableOnlyDuringCall", IMMUTABLE_ONLY_DURING_CALL),
        ("PJRT_Buffer_MemoryLayout_Type_Tiled", TILED),
        ("PJRT_Error_Code_OK", 0),
        ("PJRT_NamedValue_kString", named_value::STRING),
        ("PJRT_NamedValue_kInt64", named_value::INT64),
        ("PJRT_NamedValue_kInt64List", named_value::INT64_LIST),
        ("PJRT_NamedValue_kFloat", named_value::FLOAT),
        ("PJRT_NamedValue_kBool", named_value::BOOL),
    ]
    .into_iter()
    .map(|(name, number)| (name.to_owned(), number))
    .collect();
    let number = |known: &ElementType| Some((format!("PJRT_Buffer_Type_{}", known.enum_name()), known.pjrt_number()?));
    declared.extend(ElementType::ALL.iter().filter_map(number));
    // Not element types.
    declared.extend([("PJRT_Buffer_Type_INVALID".to_owned(), 0), ("PJRT_Buffer_Type_TOKEN".to_owned(), 23)]);
    declared.extend(CODES.iter().map(|(name, number)| (format!("PJRT_Error_Code_{name}"), *number)));
    let declared: BTreeMap<&str, i32> = declared.iter().map(|(name, number)| (name.as_str(), *number)).collect();
    assert_eq!(declared, header);
}
