//! `docs/xla-parity.md` is generated from the documentation of `xla_shape_parity::table` (`BLESS=1` writes it). Exactly the functions that it
//! lists exist and are called here.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::ops::ControlFlow;
use xla_shape::compare::{LayoutEqual, ShapeEqual};
use xla_shape::map::StrideTableRef;
use xla_shape::{
    ArrayShape, Dimension, DimensionNumber, ElementType, Layout, Shape, ShapeIndex, SplitConfig, Tile, TileDimension,
    TransformError, memory_space, proto,
};
use xla_shape_parity::shape_util::IndexIterationSpace;
use xla_shape_parity::{index_util, layout_util, shape_util};

/// Calls each function, and returns the names of the called functions.
macro_rules! calls {
    ($($function:path => ($($argument:expr),* $(,)?);)*) => {{
        $(let _ = black_box($function($($argument),*));)*
        [$(stringify!($function).replace(' ', "")),*]
    }};
}

fn called() -> BTreeSet<String> {
    use Dimension::Static;
    use ElementType::{Bf16, C64, F32};
    let parse = |text: &str| text.parse::<ArrayShape>().unwrap();
    let (array, bounded, complex) = (&parse("f32[2,1,3]"), &parse("f32[<=2,3]"), &parse("c64[2]"));
    let tiled = &parse("bf16[1024]{0:T(1024)(128)(2,1)}");
    let layout = || array.layout().clone();
    let shape = || "(f32[2,3], (s32[], token[]))".parse::<Shape>().unwrap();
    let one = || Shape::Array(array.clone());
    let tuple = &mut shape();
    let table = &array.stride_table().unwrap();
    let space = &IndexIterationSpace { index_base: vec![0; 3], index_count: vec![1; 3], index_incr: vec![1; 3] };
    let keep_shape = |_: &Shape, _: &_| ControlFlow::<()>::Continue(());
    let keep_index = |_: &[u64]| ControlFlow::<()>::Continue(());
    let equal = &ShapeEqual::new();
    let (split, index) = (&SplitConfig::new(0, &[1]), &mut ShapeIndex::new());
    let names = calls! {
        ArrayShape::with_default_layout => (F32, &[2, 3]);
        ArrayShape::new => (F32, &[Static(2), Dimension::Bounded(3)], Layout::descending(2));
        shape_util::make_scalar_shape => (F32);
        Shape::tuple => (vec![Shape::Token]);
        shape_util::make_maybe_tuple_shape => (vec![Shape::Token]);
        Shape::make_nil => ();
        shape_util::make_static_shape => (bounded);
        shape_util::make_shape_with_descending_layout_and_same_physical_layout => (array);
        ArrayShape::elements => (array);
        shape_util::static_extent_product => (array);
        shape_util::elements_in_recursive => (tuple);
        ArrayShape::is_zero_element_array => (array);
        shape_util::byte_size_of => (tuple, 8);
        ElementType::storage_bytes => (F32);
        shape_util::byte_size_of_elements => (array);
        ArrayShape::element_bits => (array);
        ArrayShape::array_size => (array);
        shape_util::array_data_size => (array);
        shape_util::byte_strides => (array);
        ArrayShape::true_num_dimensions => (array);
        shape_util::packed_factor_for_1d_interleaved_array => (tiled);
        Shape::without_layout => (tuple);
        ArrayShape::without_layout => (array);
        ToString::to_string => (array);
        PartialEq::eq => (array, bounded);
        shape_util::equal_ignoring_element_type => (tuple, &one());
        shape_util::equal_ignoring_fp_precision => (tuple, &one());
        Shape::equal_structure => (tuple, &one());
        Shape::compatible => (tuple, &one());
        shape_util::compatible_ignoring_element_type => (tuple, &one());
        shape_util::compatible_ignoring_fp_precision => (tuple, &one());
        shape_util::compatible_kind => (tuple, &one());
        ArrayShape::same_dimensions => (array, bounded);
        ArrayShape::same_rank => (array, bounded);
        ArrayShape::same_element_type => (array, bounded);
        shape_util::same_element_type_ignoring_fp_precision => (array, tiled);
        ArrayShape::higher_precision_element_type => (array, tiled);
        ElementType::higher_precision_type => (F32, Bf16);
        shape_util::element_can_upcast => (tiled, array);
        ArrayShape::dynamic_array_shape_is_compatible => (bounded, bounded);
        Shape::dynamic_shape_is_compatible => (tuple, &shape());
        shape_util::has_primitive_type => (tuple, F32);
        ArrayShape::is_scalar => (array);
        shape_util::is_effective_scalar => (array);
        shape_util::is_scalar_with_element_type => (array, F32);
        ElementType::is_integral => (F32);
        ElementType::is_floating => (F32);
        ElementType::is_complex => (C64);
        ElementType::is_signed => (F32);
        ElementType::bits => (F32);
        shape_util::get_dimension => (array, -1);
        ArrayShape::get_dimension_number => (array, -1);
        DimensionNumber::resolve => (DimensionNumber::X, 3);
        ArrayShape::dimensions => (array);
        shape_util::change_element_type => (array, Bf16);
        shape_util::complex_component_shape => (complex);
        shape_util::update_dynamic_dimension => (tuple, &[0], 0, true);
        shape_util::copy_dynamic_dimensions => (array, array);
        shape_util::append_major_dimension => (array, 2);
        shape_util::prepend_major_dimension => (array, 2);
        shape_util::append_minor_dimension => (array, 2);
        ArrayShape::insert_dimension => (array, 1, Static(2), 0);
        shape_util::move_dim_to_major => (array, 1);
        shape_util::is_effectively_most_major_dimension => (array, 0);
        shape_util::has_degenerate_dimensions => (array);
        shape_util::drop_degenerate_dimensions => (array);
        shape_util::delete_dimension => (array, 1);
        shape_util::delete_dimensions => (array, [0, 1]);
        shape_util::filter_dimensions => (array, |dimension| dimension > 0);
        ArrayShape::permute_dimensions => (array, [2, 0, 1]);
        shape_util::inserted_or_deleted_1_sized_dimensions => (array, bounded);
        shape_util::dimensions_unmodified_by_reshape => (array, bounded);
        shape_util::reshape_leaves_dimensions_unmodified => (array, bounded, &[0]);
        ArrayShape::transpose_is_bitcast => (array, array, &[0, 1, 2]);
        ArrayShape::reshape_is_bitcast => (array, array);
        ArrayShape::decompose_bitcast => (array, array);
        ArrayShape::deduce_transpose_dimensions_for_bitcast => (array, array);
        ArrayShape::align_layouts => (array, bounded);
        shape_util::is_nested_tuple => (tuple);
        shape_util::is_empty_tuple => (tuple);
        shape_util::tuple_element_count => (tuple);
        Shape::get_tuple_element_shape => (tuple, 0);
        shape_util::append_shape_to_tuple => (tuple, Shape::Token);
        shape_util::update_tuple_shape => (tuple, 0, Shape::Token);
        shape_util::slice_tuple => (tuple, 0, 1);
        Shape::subshape_count => (tuple);
        Shape::index_is_valid => (tuple, &[0]);
        Shape::get_subshape => (tuple, &[0]);
        Shape::update_subshape => (tuple, &[0], Shape::Token);
        shape_util::is_leaf_index => (tuple, &[0]);
        shape_util::get_leaf_count => (tuple);
        shape_util::for_each_subshape => (tuple, keep_shape);
        shape_util::for_each_subshape_post_order => (tuple, keep_shape);
        shape_util::for_each_leaf_shape => (tuple, keep_shape);
        Shape::for_each_mutable_leaf_shape => (tuple, |_, _| Ok::<(), TransformError>(()));
        Shape::try_map_arrays => (shape(), Ok::<_, TransformError>);
        shape_util::for_each_index => (array, keep_index);
        shape_util::for_each_index_in => (array, space, keep_index);
        shape_util::device_shape_to_host_shape => (array);
        shape_util::update_element_size_in_bits => (array, true);
        Layout::new => (&[1, 0]);
        layout_util::make_layout_from_major_to_minor => (&[0, 1]);
        Layout::descending => (2);
        Layout::ascending => (2);
        Layout::is_monotonic_with_dim0_major => (array.layout());
        Layout::is_monotonic_with_dim0_minor => (array.layout());
        layout_util::get_with_default_layout => (array);
        ArrayShape::with_layout => (array.clone(), layout());
        layout_util::clear_tiles => (tiled);
        Shape::is_array => (tuple);
        layout_util::has_custom_element_size_in_bits => (tuple);
        Layout::minor_to_major => (array.layout());
        Layout::major => (array.layout(), 0);
        Layout::minor => (array.layout(), 0);
        Layout::make_logical_to_physical => (array.layout());
        layout_util::copy_layout_between_shapes => (&one(), tuple);
        Shape::layouts_in_shapes_equal => (tuple, &one(), LayoutEqual::new());
        layout_util::are_dimensions_consecutive => (array.layout(), [0, 1]);
        Layout::move_dim_to_major => (array.layout(), 0);
        Layout::move_dim_to_minor => (array.layout(), 0);
        StrideTableRef::linear_index => (table.as_ref(), &[0, 0, 0]);
        StrideTableRef::checked_linear_index => (table.as_ref(), &[0, 0, 0]);
        StrideTableRef::multi_index => (table.as_ref(), 0);
        Layout::memory_space => (array.layout());
        memory_space::name => (1);
        layout_util::byte_strides_is_major_to_minor => (&[4], &[2], F32);
        ArrayShape::max_split_size => (array, 0);
        ArrayShape::max_elements_in_per_split => (array);
        Layout::split_configs => (array.layout());
        index_util::bump_indices => (array, &mut [0, 0, 0]);
        index_util::get_dimension_stride => (array, 0);
        index_util::index_in_bounds => (array, &[0, 0, 0]);
        index_util::compare_indices => (&[0], &[1]);
        proto::decode_shape => (&[0x10, 0x0b]);
        proto::encode_shape => (tuple);
        shape_util::is_array_excluding_buffer => (tuple);
        Shape::is_tuple => (tuple);
        shape_util::is_buffer => (tuple);
        shape_util::is_token => (tuple);
        shape_util::is_opaque => (tuple);
        shape_util::are_all_leaves_integers => (tuple);
        Shape::is_static => (tuple);
        ArrayShape::is_static => (array);
        Shape::is_dynamic => (tuple);
        Shape::is_unbounded_dynamic => (tuple);
        ArrayShape::is_unbounded_dynamic => (array);
        shape_util::is_bounded_dynamic => (tuple);
        Dimension::is_dynamic => (Static(2));
        shape_util::set_dynamic_dimension => (array, 0, true);
        ArrayShape::with_dimensions => (array, &[2, 1, 3]);
        ArrayShape::element_type => (array);
        ArrayShape::num_dimensions => (array);
        Shape::tuple_shapes => (tuple);
        Shape::array => (tuple);
        ArrayShape::layout => (array);
        ShapeEqual::new => ();
        ShapeEqual::compare => (equal, tuple, &one());
        ShapeEqual::ignore_layout => (*equal);
        ShapeEqual::ignore_tiles_in_layout => (*equal);
        ShapeEqual::ignore_element_size_in_layout => (*equal);
        ShapeEqual::ignore_memory_space_in_layout => (*equal);
        ShapeEqual::ignore_split_config_in_layout => (*equal);
        ShapeEqual::ignore_tail_padding_alignment_in_elements => (*equal);
        ShapeEqual::minor_to_major_only_in_layout => (*equal);
        ShapeEqual::ignore_element_type => (*equal);
        ShapeEqual::ignore_fp_precision => (*equal);
        ShapeEqual::ignore_dynamic_dimension => (*equal);
        ShapeEqual::ignore_dimensions => (*equal);
        ShapeEqual::ignore_buffer => (*equal);
        Layout::num_dimensions => (array.layout());
        Layout::tiles => (array.layout());
        Layout::is_untiled => (array.layout());
        Layout::element_size_in_bits => (array.layout());
        Layout::tail_padding_alignment_in_elements => (array.layout());
        Layout::dynamic_shape_metadata_prefix_bytes => (array.layout());
        Layout::with_tiles => (layout(), &[]);
        Layout::with_element_size_in_bits => (layout(), 4);
        Layout::with_tail_padding_alignment_in_elements => (layout(), 8);
        Layout::with_memory_space => (layout(), 1);
        Layout::with_split_configs => (layout(), &[]);
        Layout::with_dynamic_shape_metadata_prefix_bytes => (layout(), 4);
        layout_util::delete_dimension => (array.layout(), 0);
        LayoutEqual::new => ();
        LayoutEqual::compare => (&LayoutEqual::new(), array.layout(), tiled.layout());
        LayoutEqual::ignore_tiles => (LayoutEqual::new());
        LayoutEqual::ignore_tail_padding_alignment_in_elements => (LayoutEqual::new());
        LayoutEqual::ignore_element_size => (LayoutEqual::new());
        LayoutEqual::ignore_memory_space => (LayoutEqual::new());
        LayoutEqual::ignore_split_configs => (LayoutEqual::new());
        LayoutEqual::ignore_dynamic_shape_metadata_prefix_bytes => (LayoutEqual::new());
        LayoutEqual::minor_to_major_only => (LayoutEqual::new());
        Tile::new => (&[TileDimension::Size(8)]);
        Tile::dimensions => (&tiled.layout().tiles()[0]);
        SplitConfig::new => (0, &[1]);
        SplitConfig::dimension => (split);
        SplitConfig::split_indices => (split);
        ShapeIndex::push_back => (index, 0);
        ShapeIndex::pop_back => (index);
        ShapeIndex::push_front => (index, 0);
        ShapeIndex::pop_front => (index);
    };
    // These return iterators, which borrow the shape.
    let iterators = calls! {
        Shape::get_leaf_shapes => (tuple);
        Shape::flatten_tuple_shape => (tuple);
        Shape::subshapes => (tuple);
    };
    names.into_iter().chain(iterators).collect()
}

#[test]
fn the_page_lists_what_is_called() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/xla-parity.md");
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/parity/src/table.md");
    // In the book, names have no links.
    let made = std::fs::read_to_string(table).unwrap().replace("[`", "`").replace("`]", "`");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap();
    assert_eq!(page, made, "the page is not that of the table");
    let mut listed = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| XLA")) {
        let columns = row.split('|').map(str::trim).collect::<Vec<_>>();
        let &["", xla, here, remarks, ""] = columns.as_slice() else { panic!("a row without three columns: {row}") };
        assert!(!xla.is_empty(), "{row}");
        assert!(here != "none" || !remarks.is_empty(), "no function and no reason: {row}");
        listed.extend(here.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    let called = called();
    let missing = listed.difference(&called).collect::<Vec<_>>();
    let unlisted = called.difference(&listed).collect::<Vec<_>>();
    assert!(missing.is_empty() && unlisted.is_empty(), "not called: {missing:?}; not listed: {unlisted:?}");
}
