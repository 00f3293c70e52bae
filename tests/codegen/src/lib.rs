//! Index functions and kernels whose machine code `tests/tests/workspace/codegen.rs` checks.
//!
//! Each module has a function that uses the library, and the best function written by hand for the same task.

#![forbid(unsafe_code)]
#![expect(missing_docs, reason = "the names of the modules say what their two functions are")]

pub mod copies;
pub mod kernels;
pub mod products;

macro_rules! pair {
    ($name:ident: $shape:ty; ($($i:ident),*) => $hand:expr) => {
        pub mod $name {
            /// The library's function.
            #[inline(never)]
            pub fn library($($i: usize),*) -> usize {
                <$shape>::linear_index([$($i),*])
            }

            /// The function written by hand.
            #[inline(never)]
            pub fn by_hand($($i: usize),*) -> usize {
                $hand
            }
        }
    };
}

use xla_shape::shape;

pair!(row_major: super::shape!(f32[128,256]); (i, j) => (i << 8) + j);
pair!(column_major: super::shape!(f32[128,256]{0,1}); (i, j) => (j << 7) + i);
pair!(tiled_8_128: super::shape!(f32[1024,2048]{1,0:T(8,128)}); (i, j) => {
    ((i & !7) << 11) + ((j & !127) << 3) + ((i & 7) << 7) + (j & 127)
});
pair!(tiled_8_128_2_1: super::shape!(bf16[1024,2048]{1,0:T(8,128)(2,1)}); (i, j) => {
    ((i & !7) << 11) + ((j & !127) << 3) + ((i & 6) << 7) + (j & 127) * 2 + (i & 1)
});
pair!(tiled_1024_128_2_1: super::shape!(bf16[65536]{0:T(1024)(128)(2,1)}); (i) => {
    (i & !255) | (i & 127) << 1 | (i >> 7) & 1
});
pair!(rank_4_permuted: super::shape!(bf16[8,16,1280,16384]{3,2,0,1:T(8,128)(2,1)}); (a, b, c, d) => {
    (b * 8 + a) * (1280 * 16384) + ((c & !7) << 14) + ((d & !127) << 3) + ((c & 6) << 7) + (d & 127) * 2 + (c & 1)
});
pair!(no_powers_of_two: super::shape!(f32[100,300]{1,0:T(6,100)}); (i, j) => {
    (i / 6 * 3 + j / 100) * 600 + i % 6 * 100 + j % 100
});
pair!(combined: super::shape!(f32[16,8,128]{2,1,0:T(*,8,128)}); (i, j, k) => {
    ((i * 8 + j) << 7) + k
});
pair!(combined_uneven: super::shape!(f32[7,6,100]{2,1,0:T(*,4,128)}); (i, j, k) => {
    let row = i * 6 + j;
    (row << 7) + k
});
pair!(later_tile_does_not_divide: super::shape!(f32[64,128]{1,0:T(8,128)(3,1)}); (i, j) => {
    let inner = i & 7;
    ((i >> 3) * 3 + inner / 3) * 384 + j * 3 + inner % 3
});

pub mod constant_index {
    use super::shape;
    use xla_shape::index;

    /// The library's function.
    #[inline(never)]
    pub fn library() -> usize {
        <shape!(bf16[1024,2048]{1,0:T(8,128)(2,1)})>::linear_index_at(index![13, 300])
    }

    /// The function written by hand.
    #[inline(never)]
    pub fn by_hand() -> usize {
        18_777
    }
}

pub mod constant_numbers {
    use super::shape;

    /// The library's function.
    #[inline(never)]
    pub fn library() -> usize {
        <shape!(bf16[1024,2048]{1,0:T(8,128)(2,1)})>::linear_index([13, 300])
    }

    /// The function written by hand.
    #[inline(never)]
    pub fn by_hand() -> usize {
        18_777
    }
}

macro_rules! pair_with_sizes {
    ($name:ident: $shape:ty; ($($i:ident),*) => $hand:expr) => {
        pub mod $name {
            use xla_shape::types::ArrayType;

            /// The library's function.
            #[inline(never)]
            pub fn library(x: $shape, $($i: usize),*) -> usize {
                x.linear_index_of([$($i),*])
            }

            /// The function written by hand.
            #[inline(never)]
            pub fn by_hand(_: $shape, $($i: usize),*) -> usize {
                $hand
            }
        }
    };
}

pair_with_sizes!(unbounded_rows_of_two_tiles: super::shape!(f32[?,256]{1,0:T(8,128)}); (i, j) => {
    ((i & !7) << 8) + ((j & !127) << 3) + ((i & 7) << 7) + (j & 127)
});
pair_with_sizes!(unbounded_rows_of_one_tile: super::shape!(f32[?,128]{1,0:T(8,128)}); (i, j) => {
    (i << 7) + j
});
pair_with_sizes!(unbounded_pairs_of_rows: super::shape!(bf16[?,128]{1,0:T(8,128)(2,1)}); (i, j) => {
    ((i & !1) << 7) + j * 2 + (i & 1)
});
pair_with_sizes!(unbounded_vector: super::shape!(f32[?]{0:T(1024)}); (i) => {
    i
});
pair_with_sizes!(bounded_batch: super::shape!(bf16[<=1024,2048]{1,0:T(8,128)(2,1)}); (i, j) => {
    ((i & !7) << 11) + ((j & !127) << 3) + ((i & 6) << 7) + (j & 127) * 2 + (i & 1)
});
