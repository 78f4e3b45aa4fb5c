//! The experiments, a folder for each source, one file each: `author_year_what`.
//!
//! | folder | source |
//! |---|---|
//! | `li2011` | 004, b-bit minwise hashing |
//! | `li2010` | 000, three-way b-bit minwise hashing |
//! | `mitzenmacher2014` | 003, Odd Sketches |
//! | `karamatli2012` | 002, the Benzer report |
//! | `chum2008` | min-hashes of pictures, the report's wish |
//! | `leskovec2014` | 001, the slides on finding similar sets |
//! | `beyond` | what no paper shows and users ask |

mod beyond {
    pub(super) mod b_bit_bands;
    pub(super) mod frontier;
    pub(super) mod small_sets;
}
mod chum2008 {
    pub(super) mod pictures;
}
mod karamatli2012 {
    pub(super) mod fields;
    pub(super) mod single_hash;
}
mod leskovec2014 {
    pub(super) mod s_curve;
    pub(super) mod shingles;
}
mod li2010 {
    pub(super) mod density;
    pub(super) mod groups;
    pub(super) mod rule_pruning;
    pub(super) mod sampling;
    pub(super) mod three_way_mse;
    pub(super) mod three_way_probability;
    pub(super) mod three_way_storage;
    pub(super) mod word_associations;
    mod words;
}
mod li2011 {
    pub(super) mod combined_bits;
    pub(super) mod counting;
    pub(super) mod duplicates;
    pub(super) mod exactness;
    pub(super) mod hamming;
    pub(super) mod kernels;
    pub(super) mod known_sizes;
    pub(super) mod rho;
    pub(super) mod storage;
    pub(super) mod word_pairs;
    mod words;
}
mod mitzenmacher2014 {
    pub(super) mod odd_accuracy;
    pub(super) mod odd_ones;
    pub(super) mod odd_retrieval;
}

use crate::Experiment;

/// All experiments, in the order of the gallery.
pub const ALL: &[Experiment] = &[
    li2011::exactness::EXPERIMENT,
    li2011::storage::EXPERIMENT,
    li2011::word_pairs::EXPERIMENT,
    li2011::duplicates::EXPERIMENT,
    li2011::hamming::EXPERIMENT,
    li2011::combined_bits::EXPERIMENT,
    li2011::counting::EXPERIMENT,
    li2011::kernels::EXPERIMENT,
    li2011::known_sizes::EXPERIMENT,
    li2011::rho::EXPERIMENT,
    li2010::density::EXPERIMENT,
    li2010::three_way_probability::EXPERIMENT,
    li2010::three_way_mse::EXPERIMENT,
    li2010::three_way_storage::EXPERIMENT,
    li2010::groups::EXPERIMENT,
    li2010::word_associations::EXPERIMENT,
    li2010::rule_pruning::EXPERIMENT,
    li2010::sampling::EXPERIMENT,
    mitzenmacher2014::odd_ones::EXPERIMENT,
    mitzenmacher2014::odd_accuracy::EXPERIMENT,
    mitzenmacher2014::odd_retrieval::EXPERIMENT,
    karamatli2012::single_hash::EXPERIMENT,
    karamatli2012::fields::EXPERIMENT,
    chum2008::pictures::EXPERIMENT,
    leskovec2014::shingles::EXPERIMENT,
    leskovec2014::s_curve::EXPERIMENT,
    beyond::frontier::EXPERIMENT,
    beyond::small_sets::EXPERIMENT,
    beyond::b_bit_bands::EXPERIMENT,
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
