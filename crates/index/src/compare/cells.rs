//! The cells of a Venn diagram: counted on contents, estimated from whole registers or from what two sketches say.

use std::collections::BTreeMap;

use benzer_core::Features;
use benzer_core::estimate::{Estimate, of};
use benzer_core::sketch::{Packing, Sketch, SketchSpec};
use serde::Serialize;

/// The elements that lie in exactly these documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Places of the documents in the list.
    pub of: Vec<usize>,
    /// How many there are by the sketches, where those can tell.
    pub estimate: Option<Estimate>,
    /// How many there are, where contents are known.
    pub exact: Option<f64>,
}

/// All cells, in the order of their members as binary numbers.
pub(super) fn cells(spec: &SketchSpec, sketches: &[Sketch], features: Option<&[&Features]>) -> Vec<Cell> {
    let n = sketches.len();
    let exact = features.map(counted);
    let estimates = features.and_then(|features| whole(spec, features)).or_else(|| two(sketches));
    let cell = |members: usize| Cell {
        of: (0..n).filter(|i| members >> i & 1 == 1).collect(),
        estimate: estimates.as_ref().map(|estimates| estimates[members]),
        exact: exact.as_ref().map(|exact| exact[members]),
    };
    (1..1 << n).map(cell).collect()
}

/// Elements in all over elements in any.
pub(super) fn resemblance(cells: &[Cell]) -> Option<f64> {
    let sizes: Option<Vec<f64>> = cells.iter().map(|cell| cell.exact).collect();
    let sizes = sizes?;
    let union: f64 = sizes.iter().sum();
    (union > 0.0).then(|| sizes.last().copied().unwrap_or_default() / union)
}

/// The size of each cell. Of an element with different counts, the smallest count lies in all sets that hold it, what the others have more in these, and so on.
fn counted(features: &[&Features]) -> Vec<f64> {
    let mut counts: BTreeMap<u64, [f64; 3]> = BTreeMap::new();
    for (i, features) in features.iter().enumerate() {
        for (element, weight) in features.pairs() {
            counts.entry(element).or_default()[i] = weight;
        }
    }
    let mut sizes = vec![0.0; 1 << features.len()];
    for mut counts in counts.into_values() {
        loop {
            let members = (0..features.len()).filter(|&i| counts[i] > 0.0).fold(0, |all, i| all | 1 << i);
            if members == 0 {
                break;
            }
            let smallest = counts.iter().filter(|count| **count > 0.0).copied().fold(f64::INFINITY, f64::min);
            sizes[members] += smallest;
            counts.iter_mut().for_each(|count| *count = (*count - smallest).max(0.0));
        }
    }
    sizes
}

/// Estimates from whole registers, which keep their order.
fn whole(spec: &SketchSpec, features: &[&Features]) -> Option<Vec<Estimate>> {
    let spec = SketchSpec { packing: Packing::FULL, ..spec.clone() };
    let sketcher = spec.sketcher().ok()?;
    let sketches: Vec<Sketch> =
        features.iter().map(|features| sketcher.sketch(features).ok()).collect::<Option<_>>()?;
    let venn = of::venn(&sketches.iter().collect::<Vec<_>>()).ok()?;
    let mut estimates = vec![Estimate::exact(0.0); 1 << features.len()];
    for cell in venn.cells {
        estimates[cell.members as usize] = cell.size?;
    }
    Some(estimates)
}

/// Two sketches give the intersection, and the rest follows from the sizes. Three do not.
fn two(sketches: &[Sketch]) -> Option<Vec<Estimate>> {
    let [a, b] = sketches else { return None };
    let intersection = of::intersection(a, b).ok()?;
    let rest = |size: Option<f64>| {
        size.map(|size| intersection.map_monotone(|both| (size - both).max(0.0), |_| -1.0))
    };
    Some(vec![Estimate::exact(0.0), rest(a.size())?, rest(b.size())?, intersection])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lie_in_layers() {
        let a = Features::bag([1, 1, 1, 2]);
        let b = Features::bag([1, 1, 3]);
        assert_eq!(counted(&[&a, &b]), [0.0, 2.0, 1.0, 2.0]);
        let c = Features::bag([1, 3]);
        let cells = counted(&[&a, &b, &c]);
        assert_eq!(cells, [0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn whole_registers_estimate_every_cell() {
        let sets = [Features::set(0..600), Features::set(200..800), Features::set(400..1000)];
        let spec = SketchSpec { registers: 2048, ..SketchSpec::default() };
        let sketcher = spec.sketcher().unwrap();
        let sketches: Vec<Sketch> = sets.iter().map(|set| sketcher.sketch(set).unwrap()).collect();
        let cells = cells(&spec, &sketches, Some(&sets.each_ref()[..]));
        for cell in &cells {
            let (exact, estimate) =
                (cell.exact.unwrap(), cell.estimate.unwrap().measured().copied().unwrap());
            assert!((estimate.value - exact).abs() < 60.0, "{cell:?}");
        }
        assert_eq!(cells[6].exact, Some(200.0));
        assert_eq!(resemblance(&cells), Some(0.2));
    }
}
