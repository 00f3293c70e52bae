//! XLA's helper functions for shapes, layouts and indices, by their names in XLA.
//!
//! Use this page to port code from XLA: it lists where XLA's helper functions are in this crate. Most of them are not
//! used by the rest of this workspace. They are methods of the types that they are about; where XLA changes a shape in
//! place, they return a new one. The module [`index`] has the type for iteration over indices. `docs/xla-parity.md` in
//! the repository lists every function of XLA, including those that other modules define, and the differences in
//! behaviour.
//!
//! ```
//! use xla_shape_core::Shape;
//!
//! // XLA: ShapeUtil::DeviceShapeToHostShape(shape)
//! let shape: Shape = "(f32[8,128]{1,0:T(8,128)S(1)}, token[])".parse()?;
//! assert_eq!(shape.device_shape_to_host_shape()?.to_string(), "(f32[8,128]{1,0}, token[])");
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # `ShapeUtil` (`xla/shape_util.h`): kinds and parts of shapes
//!
//! | XLA | here |
//! |---|---|
//! | `MakeScalarShape` | [`ArrayShape::make_scalar_shape`] |
//! | `MakeNil`, `MakeMaybeTupleShape` | [`Shape::make_nil`], [`Shape::make_maybe_tuple_shape`] |
//! | `Shape::IsArray`, `IsArrayExcludingBuffer`, `IsBuffer`, `IsTuple`, `IsToken`, `IsOpaque` | [`Shape::is_array`], [`Shape::is_array_excluding_buffer`], [`Shape::is_buffer`], [`Shape::is_tuple`], [`Shape::is_token`], [`Shape::is_opaque`] |
//! | `IsEmptyTuple`, `IsNestedTuple`, `TupleElementCount` | [`Shape::is_empty_tuple`], [`Shape::is_nested_tuple`], [`Shape::tuple_element_count`] |
//! | `GetTupleElementShape`, `SliceTuple` | [`Shape::get_tuple_element_shape`], [`Shape::slice_tuple`] |
//! | `AppendShapeToTuple`, `UpdateTupleShape` | [`Shape::append_shape_to_tuple`], [`Shape::update_tuple_shape`] |
//! | `IndexIsValid`, `GetSubshape`, `GetMutableSubshape` | [`Shape::index_is_valid`], [`Shape::get_subshape`], [`Shape::get_mutable_array`], [`Shape::update_subshape`] |
//! | `IsLeafIndex`, `SubshapeCount`, `GetLeafCount` | [`Shape::is_leaf_index`], [`Shape::subshape_count`], [`Shape::get_leaf_count`] |
//! | `GetLeafShapes`, `FlattenTupleShape` | [`Shape::get_leaf_shapes`], [`Shape::flatten_tuple_shape`] |
//! | `ForEachSubshape`, `ForEachSubshapePostOrder`, `ForEachLeafShape` | [`Shape::for_each_subshape`], [`Shape::subshapes`], [`Shape::for_each_subshape_post_order`], [`Shape::for_each_leaf_shape`] |
//! | `ForEachMutableSubshape`, `ForEachMutableLeafShape` | [`Shape::for_each_mutable_leaf_shape`], [`Shape::try_map_arrays`] |
//! | `HasPrimitiveType`, `Shape::AreAllLeavesIntegers` | [`Shape::has_primitive_type`], [`Shape::are_all_leaves_integers`] |
//!
//! # `ShapeUtil`: sizes
//!
//! | XLA | here |
//! |---|---|
//! | `IsScalar`, `IsEffectiveScalar`, `IsScalarWithElementType` | [`ArrayShape::is_scalar`], [`ArrayShape::is_effective_scalar`], [`ArrayShape::is_scalar_with_element_type`] |
//! | `IsZeroElementArray`, `StaticExtentProduct`, `ElementsInRecursive` | [`ArrayShape::is_zero_element_array`], [`ArrayShape::static_extent_product`], [`Shape::elements_in_recursive`] |
//! | `ByteSizeOf`, `ByteSizeOfElements`, `ArraySize`, `ArrayDataSize` | [`Shape::byte_size_of`], [`ArrayShape::byte_size_of_elements`], [`ArrayShape::array_size`], [`ArrayShape::array_data_size`] |
//! | `ByteStrides`, `LayoutUtil::ByteStridesIsMajorToMinor`, `IndexUtil::GetDimensionStride` | [`ArrayShape::byte_strides`], [`byte_strides_is_major_to_minor`](crate::byte_strides_is_major_to_minor), [`ArrayShape::get_dimension_stride`] |
//! | `LayoutUtil::MaxSplitSize`, `LayoutUtil::MaxElementsInPerSplit` | [`ArrayShape::max_split_size`], [`ArrayShape::max_elements_in_per_split`] |
//! | `IsEffectivelyMostMajorDimension`, `PackedFactorFor1DInterleavedArray` | [`ArrayShape::is_effectively_most_major_dimension`], [`ArrayShape::packed_factor_for_1d_interleaved_array`] |
//! | `LayoutUtil::HasCustomElementSizeInBits` | [`Shape::has_custom_element_size_in_bits`] |
//!
//! # `ShapeUtil`: comparisons
//!
//! | XLA | here |
//! |---|---|
//! | `CompatibleIgnoringElementType`, `CompatibleIgnoringFpPrecision`, `CompatibleKind` | [`Shape::compatible_ignoring_element_type`], [`Shape::compatible_ignoring_fp_precision`], [`Shape::compatible_kind`] |
//! | `EqualIgnoringElementType`, `EqualIgnoringFpPrecision` | [`Shape::equal_ignoring_element_type`], [`Shape::equal_ignoring_fp_precision`] |
//! | `SameElementTypeIgnoringFpPrecision`, `ElementCanUpcast` | [`ArrayShape::same_element_type_ignoring_fp_precision`], [`ArrayShape::element_can_upcast`] |
//!
//! # `ShapeUtil`: changed shapes
//!
//! | XLA | here |
//! |---|---|
//! | `GetDimension`, `GetDimensionNumber` | [`ArrayShape::get_dimension`], [`ArrayShape::get_dimension_number`] |
//! | `PermuteDimensions`, `DeleteDimension`, `DeleteDimensions`, `FilterDimensions` | [`ArrayShape::permute_dimensions`], [`ArrayShape::delete_dimension`], [`ArrayShape::delete_dimensions`], [`ArrayShape::filter_dimensions`] |
//! | `HasDegenerateDimensions`, `DropDegenerateDimensions` | [`ArrayShape::has_degenerate_dimensions`], [`ArrayShape::drop_degenerate_dimensions`] |
//! | `AppendMajorDimension`, `PrependMajorDimension`, `AppendMinorDimension` | [`ArrayShape::append_major_dimension`], [`ArrayShape::prepend_major_dimension`], [`ArrayShape::append_minor_dimension`], [`ArrayShape::insert_dimension`] |
//! | `MoveDimToMajor` | [`ArrayShape::move_dim_to_major`], [`ArrayShape::move_dim_to_minor`] |
//! | `MakeShapeWithDescendingLayoutAndSamePhysicalLayout` | [`ArrayShape::make_shape_with_descending_layout_and_same_physical_layout`] |
//! | `ChangeElementType`, `ComplexComponentShape`, `UpdateElementSizeInBits` | [`ArrayShape::change_element_type`], [`ArrayShape::complex_component_shape`], [`ArrayShape::update_element_size_in_bits`] |
//! | `DeviceShapeToHostShape`, `LayoutUtil::GetWithDefaultLayout`, `LayoutUtil::ClearTiles` | [`ArrayShape::device_shape_to_host_shape`], [`ArrayShape::get_with_default_layout`], [`ArrayShape::clear_tiles`] |
//! | `MakeStaticShape`, `Shape::set_dynamic_dimension`, `UpdateDynamicDimension`, `CopyDynamicDimensions` | [`ArrayShape::make_static_shape`], [`ArrayShape::set_dynamic_dimension`], [`Shape::update_dynamic_dimension`], [`ArrayShape::copy_dynamic_dimensions`] |
//! | `Shape::is_static`, `is_dynamic`, `is_unbounded_dynamic`, `is_bounded_dynamic` | [`Shape::is_static`], [`Shape::is_dynamic`], [`Shape::is_unbounded_dynamic`], [`Shape::is_bounded_dynamic`] |
//! | `DimensionsUnmodifiedByReshape`, `ReshapeLeavesDimensionsUnmodified` | [`ArrayShape::dimensions_unmodified_by_reshape`], [`ArrayShape::reshape_leaves_dimensions_unmodified`] |
//! | `AlignLayouts`, `InsertedOrDeleted1SizedDimensions` | [`ArrayShape::align_layouts`], [`ArrayShape::inserted_or_deleted_1_sized_dimensions`] |
//!
//! # `LayoutUtil` (`xla/layout_util.h`)
//!
//! | XLA | here |
//! |---|---|
//! | `MakeLayoutFromMajorToMinor` | [`Layout::make_layout_from_major_to_minor`] |
//! | `AreDimensionsConsecutive` | [`Layout::are_dimensions_consecutive`] |
//! | `Layout::DeleteDimension` | [`Layout::delete_dimension`] |
//! | `CopyLayoutBetweenShapes` | [`Shape::copy_layout_between_shapes`] |
//!
//! # `IndexUtil` (`xla/index_util.h`) and `ShapeUtil::ForEachIndex`
//!
//! | XLA | here |
//! |---|---|
//! | `IndexInBounds`, `BumpIndices`, `CompareIndices` | [`ArrayShape::index_in_bounds`], [`ArrayShape::bump_indices`], [`index::compare_indices`] |
//! | `ShapeUtil::ForEachIndex` | [`ArrayShape::for_each_index`], [`ArrayShape::for_each_index_in`] |
//!
//! [`ArrayShape::align_layouts`]: crate::ArrayShape::align_layouts
//! [`ArrayShape::append_major_dimension`]: crate::ArrayShape::append_major_dimension
//! [`ArrayShape::append_minor_dimension`]: crate::ArrayShape::append_minor_dimension
//! [`ArrayShape::array_data_size`]: crate::ArrayShape::array_data_size
//! [`ArrayShape::array_size`]: crate::ArrayShape::array_size
//! [`ArrayShape::bump_indices`]: crate::ArrayShape::bump_indices
//! [`ArrayShape::byte_size_of_elements`]: crate::ArrayShape::byte_size_of_elements
//! [`ArrayShape::byte_strides`]: crate::ArrayShape::byte_strides
//! [`ArrayShape::change_element_type`]: crate::ArrayShape::change_element_type
//! [`ArrayShape::clear_tiles`]: crate::ArrayShape::clear_tiles
//! [`ArrayShape::complex_component_shape`]: crate::ArrayShape::complex_component_shape
//! [`ArrayShape::copy_dynamic_dimensions`]: crate::ArrayShape::copy_dynamic_dimensions
//! [`ArrayShape::delete_dimension`]: crate::ArrayShape::delete_dimension
//! [`ArrayShape::delete_dimensions`]: crate::ArrayShape::delete_dimensions
//! [`ArrayShape::device_shape_to_host_shape`]: crate::ArrayShape::device_shape_to_host_shape
//! [`ArrayShape::dimensions_unmodified_by_reshape`]: crate::ArrayShape::dimensions_unmodified_by_reshape
//! [`ArrayShape::drop_degenerate_dimensions`]: crate::ArrayShape::drop_degenerate_dimensions
//! [`ArrayShape::element_can_upcast`]: crate::ArrayShape::element_can_upcast
//! [`ArrayShape::filter_dimensions`]: crate::ArrayShape::filter_dimensions
//! [`ArrayShape::for_each_index`]: crate::ArrayShape::for_each_index
//! [`ArrayShape::for_each_index_in`]: crate::ArrayShape::for_each_index_in
//! [`ArrayShape::get_dimension`]: crate::ArrayShape::get_dimension
//! [`ArrayShape::get_dimension_number`]: crate::ArrayShape::get_dimension_number
//! [`ArrayShape::get_dimension_stride`]: crate::ArrayShape::get_dimension_stride
//! [`ArrayShape::get_with_default_layout`]: crate::ArrayShape::get_with_default_layout
//! [`ArrayShape::has_degenerate_dimensions`]: crate::ArrayShape::has_degenerate_dimensions
//! [`ArrayShape::index_in_bounds`]: crate::ArrayShape::index_in_bounds
//! [`ArrayShape::insert_dimension`]: crate::ArrayShape::insert_dimension
//! [`ArrayShape::inserted_or_deleted_1_sized_dimensions`]: crate::ArrayShape::inserted_or_deleted_1_sized_dimensions
//! [`ArrayShape::is_effective_scalar`]: crate::ArrayShape::is_effective_scalar
//! [`ArrayShape::is_effectively_most_major_dimension`]: crate::ArrayShape::is_effectively_most_major_dimension
//! [`ArrayShape::is_scalar`]: crate::ArrayShape::is_scalar
//! [`ArrayShape::is_scalar_with_element_type`]: crate::ArrayShape::is_scalar_with_element_type
//! [`ArrayShape::is_zero_element_array`]: crate::ArrayShape::is_zero_element_array
//! [`ArrayShape::make_scalar_shape`]: crate::ArrayShape::make_scalar_shape
//! [`ArrayShape::make_shape_with_descending_layout_and_same_physical_layout`]: crate::ArrayShape::make_shape_with_descending_layout_and_same_physical_layout
//! [`ArrayShape::make_static_shape`]: crate::ArrayShape::make_static_shape
//! [`ArrayShape::max_elements_in_per_split`]: crate::ArrayShape::max_elements_in_per_split
//! [`ArrayShape::max_split_size`]: crate::ArrayShape::max_split_size
//! [`ArrayShape::move_dim_to_major`]: crate::ArrayShape::move_dim_to_major
//! [`ArrayShape::move_dim_to_minor`]: crate::ArrayShape::move_dim_to_minor
//! [`ArrayShape::packed_factor_for_1d_interleaved_array`]: crate::ArrayShape::packed_factor_for_1d_interleaved_array
//! [`ArrayShape::permute_dimensions`]: crate::ArrayShape::permute_dimensions
//! [`ArrayShape::prepend_major_dimension`]: crate::ArrayShape::prepend_major_dimension
//! [`ArrayShape::reshape_leaves_dimensions_unmodified`]: crate::ArrayShape::reshape_leaves_dimensions_unmodified
//! [`ArrayShape::same_element_type_ignoring_fp_precision`]: crate::ArrayShape::same_element_type_ignoring_fp_precision
//! [`ArrayShape::set_dynamic_dimension`]: crate::ArrayShape::set_dynamic_dimension
//! [`ArrayShape::static_extent_product`]: crate::ArrayShape::static_extent_product
//! [`ArrayShape::update_element_size_in_bits`]: crate::ArrayShape::update_element_size_in_bits
//! [`Layout::are_dimensions_consecutive`]: crate::Layout::are_dimensions_consecutive
//! [`Layout::delete_dimension`]: crate::Layout::delete_dimension
//! [`Layout::make_layout_from_major_to_minor`]: crate::Layout::make_layout_from_major_to_minor
//! [`Shape::append_shape_to_tuple`]: crate::Shape::append_shape_to_tuple
//! [`Shape::are_all_leaves_integers`]: crate::Shape::are_all_leaves_integers
//! [`Shape::byte_size_of`]: crate::Shape::byte_size_of
//! [`Shape::compatible_ignoring_element_type`]: crate::Shape::compatible_ignoring_element_type
//! [`Shape::compatible_ignoring_fp_precision`]: crate::Shape::compatible_ignoring_fp_precision
//! [`Shape::compatible_kind`]: crate::Shape::compatible_kind
//! [`Shape::copy_layout_between_shapes`]: crate::Shape::copy_layout_between_shapes
//! [`Shape::elements_in_recursive`]: crate::Shape::elements_in_recursive
//! [`Shape::equal_ignoring_element_type`]: crate::Shape::equal_ignoring_element_type
//! [`Shape::equal_ignoring_fp_precision`]: crate::Shape::equal_ignoring_fp_precision
//! [`Shape::flatten_tuple_shape`]: crate::Shape::flatten_tuple_shape
//! [`Shape::for_each_leaf_shape`]: crate::Shape::for_each_leaf_shape
//! [`Shape::for_each_mutable_leaf_shape`]: crate::Shape::for_each_mutable_leaf_shape
//! [`Shape::for_each_subshape`]: crate::Shape::for_each_subshape
//! [`Shape::for_each_subshape_post_order`]: crate::Shape::for_each_subshape_post_order
//! [`Shape::get_leaf_count`]: crate::Shape::get_leaf_count
//! [`Shape::get_leaf_shapes`]: crate::Shape::get_leaf_shapes
//! [`Shape::get_mutable_array`]: crate::Shape::get_mutable_array
//! [`Shape::get_subshape`]: crate::Shape::get_subshape
//! [`Shape::get_tuple_element_shape`]: crate::Shape::get_tuple_element_shape
//! [`Shape::has_custom_element_size_in_bits`]: crate::Shape::has_custom_element_size_in_bits
//! [`Shape::has_primitive_type`]: crate::Shape::has_primitive_type
//! [`Shape::index_is_valid`]: crate::Shape::index_is_valid
//! [`Shape::is_array`]: crate::Shape::is_array
//! [`Shape::is_array_excluding_buffer`]: crate::Shape::is_array_excluding_buffer
//! [`Shape::is_bounded_dynamic`]: crate::Shape::is_bounded_dynamic
//! [`Shape::is_buffer`]: crate::Shape::is_buffer
//! [`Shape::is_dynamic`]: crate::Shape::is_dynamic
//! [`Shape::is_empty_tuple`]: crate::Shape::is_empty_tuple
//! [`Shape::is_leaf_index`]: crate::Shape::is_leaf_index
//! [`Shape::is_nested_tuple`]: crate::Shape::is_nested_tuple
//! [`Shape::is_opaque`]: crate::Shape::is_opaque
//! [`Shape::is_static`]: crate::Shape::is_static
//! [`Shape::is_token`]: crate::Shape::is_token
//! [`Shape::is_tuple`]: crate::Shape::is_tuple
//! [`Shape::is_unbounded_dynamic`]: crate::Shape::is_unbounded_dynamic
//! [`Shape::make_maybe_tuple_shape`]: crate::Shape::make_maybe_tuple_shape
//! [`Shape::make_nil`]: crate::Shape::make_nil
//! [`Shape::slice_tuple`]: crate::Shape::slice_tuple
//! [`Shape::subshape_count`]: crate::Shape::subshape_count
//! [`Shape::subshapes`]: crate::Shape::subshapes
//! [`Shape::try_map_arrays`]: crate::Shape::try_map_arrays
//! [`Shape::tuple_element_count`]: crate::Shape::tuple_element_count
//! [`Shape::update_dynamic_dimension`]: crate::Shape::update_dynamic_dimension
//! [`Shape::update_subshape`]: crate::Shape::update_subshape
//! [`Shape::update_tuple_shape`]: crate::Shape::update_tuple_shape

mod compare;
mod dynamic;
pub(crate) mod extent;
pub mod index;
mod layout;
pub(crate) mod reshape;
pub(crate) mod subshape;
pub(crate) mod transform;
