//! Budgets chosen from the data.

use crate::actions::COST_GAP;
use crate::decimal::Phi;
use crate::distribution::{Subgroup, Viewpoint};
use crate::error::Error;

/// The 30th, 60th and 90th percentile of micro `ecd⁻¹(0.5)` over all subgroups and groups,
/// infinities left out; equal ones merged.
pub(crate) fn automatic(subgroups: &[Subgroup]) -> Result<Vec<f64>, Error> {
    let half: Phi = "0.5".parse()?;
    let mut costs: Vec<f64> = subgroups
        .iter()
        .flat_map(|subgroup| {
            let cost = |g| subgroup.cost_of_effectiveness(Viewpoint::Micro, g, half);
            (0..subgroup.groups()).filter_map(cost)
        })
        .filter(|cost| cost.is_finite())
        .collect();
    if costs.is_empty() {
        return Err(Error::NoAutomaticBudgets);
    }
    costs.sort_by(f64::total_cmp);
    let mut budgets: Vec<f64> = [3, 6, 9].map(|tenths| percentile(&costs, tenths)).to_vec();
    budgets.dedup_by(|a, b| (*a - *b).abs() < COST_GAP);
    Ok(budgets)
}

/// The value at so many tenths of the way through ascending values, linearly interpolated.
fn percentile(ascending: &[f64], tenths: usize) -> f64 {
    let position = tenths * (ascending.len() - 1);
    let (index, rest) = (position / 10, position % 10);
    let low = ascending[index];
    if rest == 0 {
        return low;
    }
    low + (ascending[index + 1] - low) * (rest as f64 / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate() {
        let values: Vec<f64> = (0..11).map(f64::from).collect();
        assert_eq!(percentile(&values, 3), 3.0);
        assert_eq!(percentile(&[0.0, 10.0], 9), 9.0);
        assert_eq!(percentile(&[4.0], 6), 4.0);
    }
}
