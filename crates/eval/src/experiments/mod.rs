//! The experiments, one file each: `author_year_what`.
//!
//! | names | source |
//! |---|---|
//! | `li2011_*` | 004, b-bit minwise hashing |
//! | `li2010_*` | 000, three-way b-bit minwise hashing |
//! | `mitzenmacher2014_*` | 003, Odd Sketches |
//! | `karamatli2012_*` | 002, the Benzer report |
//! | `chum2008_*` | min-hashes of pictures, the report's wish |
//! | `leskovec2014_*` | 001, the slides on finding similar sets |
//! | `beyond_*` | what no paper shows and users ask |

mod beyond_b_bit_bands;
mod beyond_frontier;
mod beyond_small_sets;
mod chum2008_pictures;
mod karamatli2012_fields;
mod karamatli2012_single_hash;
mod leskovec2014_s_curve;
mod leskovec2014_shingles;
mod li2010_density;
mod li2010_groups;
mod li2010_rule_pruning;
mod li2010_sampling;
mod li2010_three_way_mse;
mod li2010_three_way_probability;
mod li2010_three_way_storage;
mod li2010_word_associations;
mod li2011_combined_bits;
mod li2011_counting;
mod li2011_duplicates;
mod li2011_exactness;
mod li2011_hamming;
mod li2011_kernels;
mod li2011_known_sizes;
mod li2011_rho;
mod li2011_storage;
mod li2011_word_pairs;
mod mitzenmacher2014_odd_accuracy;
mod mitzenmacher2014_odd_ones;
mod mitzenmacher2014_odd_retrieval;

use crate::Experiment;

/// All experiments, in the order of the gallery.
pub const ALL: &[Experiment] = &[
    li2011_exactness::EXPERIMENT,
    li2011_storage::EXPERIMENT,
    li2011_word_pairs::EXPERIMENT,
    li2011_duplicates::EXPERIMENT,
    li2011_hamming::EXPERIMENT,
    li2011_combined_bits::EXPERIMENT,
    li2011_counting::EXPERIMENT,
    li2011_kernels::EXPERIMENT,
    li2011_known_sizes::EXPERIMENT,
    li2011_rho::EXPERIMENT,
    li2010_density::EXPERIMENT,
    li2010_three_way_probability::EXPERIMENT,
    li2010_three_way_mse::EXPERIMENT,
    li2010_three_way_storage::EXPERIMENT,
    li2010_groups::EXPERIMENT,
    li2010_word_associations::EXPERIMENT,
    li2010_rule_pruning::EXPERIMENT,
    li2010_sampling::EXPERIMENT,
    mitzenmacher2014_odd_ones::EXPERIMENT,
    mitzenmacher2014_odd_accuracy::EXPERIMENT,
    mitzenmacher2014_odd_retrieval::EXPERIMENT,
    karamatli2012_single_hash::EXPERIMENT,
    karamatli2012_fields::EXPERIMENT,
    chum2008_pictures::EXPERIMENT,
    leskovec2014_shingles::EXPERIMENT,
    leskovec2014_s_curve::EXPERIMENT,
    beyond_frontier::EXPERIMENT,
    beyond_small_sets::EXPERIMENT,
    beyond_b_bit_bands::EXPERIMENT,
];

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn every_experiment_has_a_name_a_source_a_claim_and_a_numeric_criterion() {
        for experiment in ALL {
            let parts: Vec<&str> = experiment.name.splitn(2, '_').collect();
            let year = parts[0].trim_start_matches(char::is_alphabetic);
            assert!(
                parts[0] == "beyond" || year.parse::<u32>().is_ok_and(|year| year > 1990),
                "{}",
                experiment.name
            );
            assert!(
                ALL.iter().filter(|other| other.name == experiment.name).count() == 1,
                "{}",
                experiment.name
            );
            assert!(experiment.criterion.contains(|c: char| c.is_ascii_digit()), "{}", experiment.name);
            assert!(
                !experiment.claim.is_empty() && !experiment.source.is_empty() && !experiment.title.is_empty()
            );
        }
    }

    #[test]
    fn the_reference_names_every_experiment() {
        let page = include_str!("../../../../docs/reference/eval.md");
        for experiment in ALL {
            let (_, what) = experiment.name.split_once('_').expect("author_year_what");
            assert!(
                page.contains(experiment.name) || page.contains(&format!("`_{what}`")),
                "{}",
                experiment.name
            );
        }
    }
}
