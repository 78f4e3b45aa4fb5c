//! The experiments, one file each: `author_year_what`.
//!
//! | names | source |
//! |---|---|
//! | `li2011_*` | 004, b-bit minwise hashing |
//! | `li2010_*` | 000, three-way b-bit minwise hashing |
//! | `mitzenmacher2014_*` | 003, Odd Sketches |
//! | `karamatli2012_*` | 002, the Benzer report |
//! | `leskovec2014_*` | 001, the slides on finding similar sets |
//! | `beyond_*` | what no paper shows and users ask |

/// Declares the modules and lists their experiments in this order.
macro_rules! experiments {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*

        /// All experiments, in the order of the gallery.
        pub const ALL: &[Experiment] = &[$($name::EXPERIMENT),*];
    };
}

use crate::Experiment;

experiments!(
    li2011_exactness,
    li2011_storage,
    li2011_word_pairs,
    li2011_duplicates,
    li2011_hamming,
    li2011_combined_bits,
    li2011_counting,
    li2011_kernels,
    li2011_known_sizes,
    li2011_rho,
    li2010_density,
    li2010_three_way_probability,
    li2010_three_way_mse,
    li2010_three_way_storage,
    li2010_groups,
    li2010_word_associations,
    li2010_rule_pruning,
    li2010_sampling,
    mitzenmacher2014_odd_ones,
    mitzenmacher2014_odd_accuracy,
    mitzenmacher2014_odd_retrieval,
    karamatli2012_single_hash,
    leskovec2014_shingles,
    leskovec2014_s_curve,
    beyond_frontier,
    beyond_small_sets,
    beyond_b_bit_bands,
);
