//! Estimates of two or more sketches: counts what the spec calls for, and hands the counts to the right estimator.
//!
//! All functions refuse sketches of different specs. An empty set has similarity 0 with any other, and none with another empty set.
//!
//! | sketch | Jaccard similarity from |
//! |---|---|
//! | full registers, sizes known | [`mle`], three outcomes per register (one_permutation: [`two_way`]) |
//! | b-bit registers | [`two_way`] |
//! | permutations of a small universe, sizes known | the dense estimators |
//! | xor, odd packing | [`xor`], [`odd`] |
//! | bottom-k | [`bottom_k`], tau-strict |
//! | odd family, sizes known | [`odd`], by the symmetric difference |

use super::collision::Collision;
use super::three_way::{Agreement, ThreeWayBits};
use super::venn::Venn;
use super::{
    Estimate, Registers, Scheme, bottom_k, mle, n_way, odd, size, three_way, three_way_dense, two_way, venn,
    xor,
};
use crate::sketch::{self, Bits, Family, Packing, Sketch, count, packed};
use crate::{Error, Result};

pub(super) const BOTH_EMPTY: &str = "the sets are empty";
pub(super) const NO_SIZES: &str = "the set sizes are not known";
/// Tables of value pairs are used up to this width: 4^b cells.
const TABLE_BITS: u32 = 4;

/// Jaccard similarity of two sketched sets (weighted, for the weighted family).
///
/// # Errors
/// Sketches of different specs.
pub fn jaccard(a: &Sketch, b: &Sketch) -> Result<Estimate> {
    if let Some(trivial) = check(&[a, b])? {
        return Ok(trivial);
    }
    let spec = a.spec();
    let sizes = sizes([a, b]);
    let registers = Registers { k: spec.registers as usize, scheme: Scheme::from(spec.family) };
    match (spec.family, spec.packing) {
        (Family::BottomK, _) => bottom_k::tau_strict(&[smallest(a), smallest(b)]),
        (Family::Odd, _) => match sizes {
            Some(sizes) => size::jaccard_from_difference(&symmetric_difference(a, b)?, sizes),
            None => Ok(Estimate::Undefined { why: NO_SIZES }),
        },
        (_, Packing::Odd { bits }) => {
            odd::jaccard(sketch::odd::distance(a, b)? as usize, bits as usize, registers, sizes)
        }
        (_, Packing::Xor { samples }) => combined(a, b, samples, registers),
        (_, Packing::Bits(Bits::FULL)) => full(a, b, registers, sizes),
        (_, Packing::Bits(bits)) => truncated(a, b, bits, registers),
    }
}

fn full(a: &Sketch, b: &Sketch, registers: Registers, sizes: Option<[f64; 2]>) -> Result<Estimate> {
    let k = registers.k;
    let (x, y) = (&a.words()[..k], &b.words()[..k]);
    // A borrowed register of one permutation does not say how late it was found, so its order means nothing.
    let ordered = registers.scheme != Scheme::OnePermutation;
    let Some(sizes) = sizes.filter(|_| ordered) else {
        let equal = k - count::mismatches(x, y, Bits::FULL) as usize;
        return two_way::jaccard(equal, 64, registers, sizes);
    };
    let mut order = mle::Order { equal: 0, less: 0, greater: 0 };
    for (x, y) in x.iter().zip(y) {
        match x.cmp(y) {
            std::cmp::Ordering::Equal => order.equal += 1,
            std::cmp::Ordering::Less => order.less += 1,
            std::cmp::Ordering::Greater => order.greater += 1,
        }
    }
    mle::jaccard(order, registers.scheme, sizes)
}

fn truncated(a: &Sketch, b: &Sketch, bits: Bits, registers: Registers) -> Result<Estimate> {
    let equal = registers.k - count::mismatches(a.words(), b.words(), bits) as usize;
    let Some(densities) = densities([a, b]) else {
        if is_exact(a.spec().family) {
            return Ok(Estimate::Undefined { why: NO_SIZES });
        }
        return two_way::jaccard(equal, bits.get(), registers, sizes([a, b]));
    };
    if bits.get() > TABLE_BITS {
        return two_way::jaccard_dense(equal, registers.k, bits.get(), densities);
    }
    let value = |sketch: &Sketch, j| packed::get(sketch.words(), bits, j).unwrap_or_default() as u32;
    let pairs: Vec<(u32, u32)> = (0..registers.k).map(|j| (value(a, j), value(b, j))).collect();
    mle::Dense::new(bits.get(), densities)?.jaccard(&pairs)
}

fn combined(a: &Sketch, b: &Sketch, samples: u32, registers: Registers) -> Result<Estimate> {
    let stored = registers.k / samples as usize;
    let equal = stored - count::mismatches(a.words(), b.words(), Bits::ALL[0]) as usize;
    let Some(densities) = densities([a, b]) else {
        if is_exact(a.spec().family) {
            return Ok(Estimate::Undefined { why: NO_SIZES });
        }
        return xor::jaccard(equal, samples, registers, sizes([a, b]));
    };
    // The sparse estimate is 2 P - 1, with P the rate of equal bits before they were combined; in a small universe P means something else.
    let line = Collision::dense(1, densities)?;
    let range = size::jaccard_range_dense(densities)?;
    let dense = |j: f64| line.jaccard(0.5 + 0.5 * j).clamp(range[0], range[1]);
    Ok(xor::jaccard(equal, samples, registers, None)?.map_monotone(dense, |_| 0.5 / (1.0 - line.c2)))
}

/// The share of each set that lies in the other: `[|A n B| / |A|, |A n B| / |B|]`.
///
/// # Errors
/// Sketches of different specs.
pub fn containment(a: &Sketch, b: &Sketch) -> Result<[Estimate; 2]> {
    let jaccard = jaccard(a, b)?;
    match sizes([a, b]) {
        Some(sizes) if sizes.iter().all(|&f| f > 0.0) => size::containment(&jaccard, sizes),
        Some(sizes) => Ok(sizes
            .map(|f| if f > 0.0 { Estimate::exact(0.0) } else { Estimate::Undefined { why: BOTH_EMPTY } })),
        None => Ok([Estimate::Undefined { why: NO_SIZES }; 2]),
    }
}

/// Size of the intersection.
///
/// # Errors
/// Sketches of different specs.
pub fn intersection(a: &Sketch, b: &Sketch) -> Result<Estimate> {
    sized(a, b, size::intersection, |_| 0.0)
}

/// Size of the union.
///
/// # Errors
/// Sketches of different specs.
pub fn union(a: &Sketch, b: &Sketch) -> Result<Estimate> {
    sized(a, b, size::union, |[f, g]| f + g)
}

/// Hamming distance: the size of the symmetric difference.
///
/// # Errors
/// Sketches of different specs.
pub fn hamming(a: &Sketch, b: &Sketch) -> Result<Estimate> {
    if a.spec().family == Family::Odd {
        check(&[a, b])?;
        return symmetric_difference(a, b);
    }
    sized(a, b, size::difference, |[f, g]| f + g)
}

/// Similarity of three sets: elements in all over elements in any.
///
/// # Errors
/// Different specs; one-bit registers, which cannot tell; xor and odd packings.
pub fn three_way(a: &Sketch, b: &Sketch, c: &Sketch) -> Result<Estimate> {
    let sketches = [a, b, c];
    let bits = match (a.spec().family, a.spec().packing) {
        (Family::BottomK, _) => None,
        (_, Packing::Bits(bits)) if a.spec().family.is_aligned() => Some(ThreeWayBits::new(bits.get())?),
        _ => {
            let remedy = "keep at least 2 bits of aligned registers, or use bottom_k";
            return Err(a.spec().unsupported("a three-way estimate", remedy));
        }
    };
    if let Some(trivial) = check(&sketches)? {
        return Ok(trivial);
    }
    let Some(bits) = bits else { return bottom_k::tau_strict(&sketches.map(smallest)) };
    let k = a.spec().registers;
    let triple = count::triple(sketches.map(lanes), Bits::new(bits.get())?, k);
    let only = [triple.only_12, triple.only_13, triple.only_23].map(|n| n as usize);
    let agreement = Agreement { all: triple.all as usize, only, none: triple.none as usize };
    match densities(sketches) {
        Some(densities) => three_way_dense::jaccard(agreement, bits, densities),
        None if is_exact(a.spec().family) && bits.get() < 64 => Ok(Estimate::Undefined { why: NO_SIZES }),
        None => three_way::jaccard(agreement, bits, Scheme::from(a.spec().family), sizes(sketches)),
    }
}

/// Similarity of any number of sets: elements in all over elements in any.
///
/// # Errors
/// Fewer than two sketches, different specs, fewer values per register than sketches, xor and odd packings.
pub fn n_way(sketches: &[&Sketch]) -> Result<Estimate> {
    let [first, _, ..] = sketches else {
        return Err(Error::parameter("sketches", "at least 2", sketches.len()));
    };
    let spec = first.spec();
    if let Some(trivial) = check(sketches)? {
        return Ok(trivial);
    }
    let words: Vec<&[u64]> = sketches.iter().map(|s| lanes(s)).collect();
    let registers = Registers { k: spec.registers as usize, scheme: Scheme::from(spec.family) };
    match (spec.family, spec.packing) {
        (Family::BottomK, _) => {
            bottom_k::tau_strict(&sketches.iter().map(|s| smallest(s)).collect::<Vec<_>>())
        }
        (family, Packing::FULL) if family.is_aligned() => {
            let equal = registers.k - count::not_all_equal(&words, Bits::FULL) as usize;
            n_way::full(equal, registers, union_bound(sketches, registers.scheme))
        }
        (family, Packing::Bits(bits)) if family.is_aligned() && !is_exact(family) => {
            let distinct = count::distinct_values(&words, bits, spec.registers);
            let distinct: Vec<usize> = distinct.into_iter().map(|n| n as usize).collect();
            n_way::b_bit(&distinct, bits.get(), registers.scheme, union_bound(sketches, registers.scheme))
        }
        _ => Err(spec.unsupported(
            "an n-way estimate",
            "keep bits of aligned registers (all 64 for permutations of a small universe), or use bottom_k",
        )),
    }
}

/// Every cell of the Venn diagram of up to 16 sets, from full registers.
///
/// # Errors
/// Different specs; anything but full registers; fewer than 2 or more than 16 sketches.
pub fn venn(sketches: &[&Sketch]) -> Result<Venn> {
    if !(2..=16).contains(&sketches.len()) {
        return Err(Error::parameter("sketches", "2 to 16", sketches.len()));
    }
    check(sketches)?;
    // Borrowed registers of one permutation have no order.
    let ordered = sketches[0].spec().family != Family::OnePermutation;
    let registers: Option<Vec<&[u64]>> = sketches.iter().map(|s| s.registers().filter(|_| ordered)).collect();
    let Some(registers) = registers else {
        let remedy = "it needs full registers that keep their order: sketch with fast and 64 bits";
        return Err(sketches[0].spec().unsupported("a Venn diagram", remedy));
    };
    let mut counts = vec![0; 1 << sketches.len()];
    for j in 0..sketches[0].spec().registers as usize {
        // An empty set holds no element, so it never holds the smallest minimum.
        let minima =
            sketches.iter().zip(&registers).map(|(s, r)| if s.is_empty() { None } else { Some(r[j]) });
        let smallest = minima.clone().flatten().min();
        let holders = minima.enumerate().filter(|(_, minimum)| minimum.is_some() && *minimum == smallest);
        counts[holders.fold(0, |members, (i, _)| members | 1 << i)] += 1;
    }
    if counts[0] > 0 {
        return Err(Error::parameter("sketches", "of sets that are not all empty", "only empty sets"));
    }
    let sizes: Vec<f64> = sketches.iter().filter_map(|s| s.size()).collect();
    let known = sizes.len() == sketches.len() && sizes.iter().all(|&f| f > 0.0);
    venn::cells(&counts, Scheme::from(sketches[0].spec().family), if known { &sizes } else { &[] })
}

/// The number of elements, from the parities of a sketch of the odd family alone.
///
/// # Errors
/// Another family.
pub fn set_size(sketch: &Sketch) -> Result<Estimate> {
    if sketch.spec().family != Family::Odd {
        let remedy = "only the odd family tells it; other sketches carry it";
        return Err(sketch.spec().unsupported("estimating the set size", remedy));
    }
    let ones = sketch.words().iter().map(|word| word.count_ones() as usize).sum();
    odd::set_size(ones, sketch.spec().registers as usize)
}

/// One spec for all; the answer where a set is empty.
fn check(sketches: &[&Sketch]) -> Result<Option<Estimate>> {
    let Some((first, others)) = sketches.split_first() else { return Ok(None) };
    others.iter().try_for_each(|other| first.spec().must_equal(other.spec()))?;
    if sketches.iter().all(|s| s.is_empty()) {
        return Ok(Some(Estimate::Undefined { why: BOTH_EMPTY }));
    }
    Ok(sketches.iter().any(|s| s.is_empty()).then(|| Estimate::exact(0.0)))
}

fn sized(
    a: &Sketch,
    b: &Sketch,
    quantity: fn(&Estimate, [f64; 2]) -> Result<Estimate>,
    of_disjoint: fn([f64; 2]) -> f64,
) -> Result<Estimate> {
    let jaccard = jaccard(a, b)?;
    match sizes([a, b]) {
        Some(sizes) if sizes.iter().all(|&f| f > 0.0) => quantity(&jaccard, sizes),
        Some(sizes) => Ok(Estimate::exact(of_disjoint(sizes))),
        None => Ok(Estimate::Undefined { why: NO_SIZES }),
    }
}

fn symmetric_difference(a: &Sketch, b: &Sketch) -> Result<Estimate> {
    odd::set_size(sketch::odd::distance(a, b)? as usize, a.spec().registers as usize)
}

/// The words that hold registers, without what a family keeps behind them.
fn lanes(sketch: &Sketch) -> &[u64] {
    match sketch.spec().packing {
        Packing::Bits(bits) if sketch.spec().family.is_aligned() => {
            &sketch.words()[..bits.words(sketch.spec().registers as usize)]
        }
        _ => sketch.words(),
    }
}

fn smallest(sketch: &Sketch) -> bottom_k::Smallest<'_> {
    bottom_k::Smallest {
        hashes: sketch.words(),
        complete: sketch::bottom_k::is_whole(sketch),
        size: sketch.size(),
    }
}

fn sizes<const N: usize>(sketches: [&Sketch; N]) -> Option<[f64; N]> {
    let sizes = sketches.map(Sketch::size);
    sizes.iter().all(Option::is_some).then(|| sizes.map(|size| size.expect("all are known")))
}

/// True for permutations of a small universe, whose low bits depend on how dense the sets are.
fn is_exact(family: Family) -> bool {
    matches!(family, Family::Permutations(sketch::Scheme::Exact { .. }))
}

/// A size of the union with which the variance is not understated: the variance of `fast` grows with the union, that of `one_permutation` falls.
fn union_bound(sketches: &[&Sketch], scheme: Scheme) -> Option<f64> {
    let sizes = sketches.iter().map(|s| s.size()).collect::<Option<Vec<f64>>>()?;
    match scheme {
        Scheme::OnePermutation => sizes.into_iter().max_by(f64::total_cmp),
        _ => Some(sizes.into_iter().sum()),
    }
}

/// Shares of the universe, for permutations of a small one.
fn densities<const N: usize>(sketches: [&Sketch; N]) -> Option<[f64; N]> {
    let Family::Permutations(sketch::Scheme::Exact { universe }) = sketches[0].spec().family else {
        return None;
    };
    sizes(sketches).map(|sizes| sizes.map(|size| size / f64::from(universe)))
}
