//! Newton's method for L2 logistic regression.
//!
//! The objective is strictly convex, so there is one minimum and no tolerance decides which one is
//! found: the steps end where rounding ends them.

/// One row: its outcome, how heavily it counts, and the coefficients it uses.
pub(super) struct Row {
    pub(super) favourable: bool,
    pub(super) weight: f64,
    /// (coefficient, multiplied by).
    pub(super) entries: Vec<(usize, f64)>,
}

/// Rows to fit.
pub(super) struct Problem {
    pub(super) coefficients: usize,
    pub(super) rows: Vec<Row>,
}

/// The minimum.
pub(super) struct Solved {
    pub(super) intercept: f64,
    pub(super) coefficients: Vec<f64>,
}

/// Steps after which rounding has long ended the descent.
const MOST_STEPS: usize = 100;

impl Problem {
    /// Finds the minimum. The intercept is the last unknown, and is not penalised.
    pub(super) fn solve(&self) -> Solved {
        let unknowns = self.coefficients + 1;
        let mut at = vec![0.0; unknowns];
        let mut loss = self.loss(&at);
        for _ in 0..MOST_STEPS {
            let (gradient, mut curvature) = self.derivatives(&at);
            let Some(step) = solve_positive(&mut curvature, gradient) else {
                break;
            };
            // Far from the minimum a whole step may overshoot: halve it until the loss falls.
            let mut length = 1.0;
            let better = loop {
                let next: Vec<f64> = at.iter().zip(&step).map(|(a, s)| a - length * s).collect();
                let next_loss = self.loss(&next);
                if next_loss < loss {
                    break Some((next, next_loss));
                }
                length /= 2.0;
                if length < 1e-9 {
                    break None;
                }
            };
            match better {
                Some((next, next_loss)) => (at, loss) = (next, next_loss),
                None => break,
            }
        }
        Solved {
            intercept: at[self.coefficients],
            coefficients: at[..self.coefficients].to_vec(),
        }
    }

    fn score(&self, row: &Row, at: &[f64]) -> f64 {
        let terms = row
            .entries
            .iter()
            .map(|&(coefficient, by)| at[coefficient] * by);
        at[self.coefficients] + terms.sum::<f64>()
    }

    fn loss(&self, at: &[f64]) -> f64 {
        let penalty: f64 = at[..self.coefficients].iter().map(|w| w * w).sum();
        let losses = self.rows.iter().map(|row| {
            let score = self.score(row, at);
            let margin = if row.favourable { score } else { -score };
            // log(1 + exp(−margin)), written so that neither side overflows.
            row.weight * ((-margin.abs()).exp().ln_1p() + (-margin).max(0.0))
        });
        penalty / 2.0 + losses.sum::<f64>()
    }

    /// The gradient, and the lower triangle of the matrix of second derivatives by rows.
    fn derivatives(&self, at: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let intercept = self.coefficients;
        let mut gradient = at.to_vec();
        gradient[intercept] = 0.0;
        let mut curvature: Vec<Vec<f64>> = (0..=intercept).map(|i| vec![0.0; i + 1]).collect();
        for (i, row) in curvature.iter_mut().enumerate().take(intercept) {
            row[i] = 1.0;
        }
        let mut entries = Vec::new();
        for row in &self.rows {
            let probability = 1.0 / (1.0 + (-self.score(row, at)).exp());
            let slope = row.weight * (probability - f64::from(u8::from(row.favourable)));
            let bend = row.weight * probability * (1.0 - probability);
            entries.clear();
            entries.extend_from_slice(&row.entries);
            entries.push((intercept, 1.0));
            for &(i, by_i) in &entries {
                gradient[i] += slope * by_i;
                for &(j, by_j) in entries.iter().filter(|(j, _)| *j <= i) {
                    curvature[i][j] += bend * by_i * by_j;
                }
            }
        }
        (gradient, curvature)
    }
}

/// Solves `matrix · x = right` for a symmetric positive definite matrix, given as its lower triangle
/// and overwritten by its Cholesky factor. `None` if rounding has made it indefinite.
fn solve_positive(matrix: &mut [Vec<f64>], mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for i in 0..n {
        let (above, below) = matrix.split_at_mut(i);
        let row = &mut below[0];
        for j in 0..i {
            let dot: f64 = row[..j]
                .iter()
                .zip(&above[j][..j])
                .map(|(a, b)| a * b)
                .sum();
            row[j] = (row[j] - dot) / above[j][j];
        }
        let squares: f64 = row[..i].iter().map(|a| a * a).sum();
        let pivot = row[i] - squares;
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        row[i] = pivot.sqrt();
    }
    for i in 0..n {
        let dot: f64 = matrix[i][..i].iter().zip(&right).map(|(a, b)| a * b).sum();
        right[i] = (right[i] - dot) / matrix[i][i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|j| matrix[j][i] * right[j]).sum();
        right[i] = (right[i] - dot) / matrix[i][i];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_system_is_solved() {
        let mut matrix = vec![vec![4.0], vec![2.0, 3.0]];
        let x = solve_positive(&mut matrix, vec![10.0, 8.0]).unwrap();
        assert!(
            (x[0] - 1.75).abs() < 1e-12 && (x[1] - 1.5).abs() < 1e-12,
            "{x:?}"
        );
        assert!(solve_positive(&mut [vec![0.0]], vec![1.0]).is_none());
    }

    #[test]
    fn the_gradient_vanishes_at_the_minimum() {
        let rows = (0..200).map(|i| Row {
            favourable: i % 3 == 0 || i % 7 == 0,
            weight: 1.0 + f64::from(i % 2),
            entries: vec![((i % 4) as usize, 1.0), (4, f64::from(i % 11) * 100.0)],
        });
        let problem = Problem {
            coefficients: 5,
            rows: rows.collect(),
        };
        let solved = problem.solve();
        let mut at = solved.coefficients.clone();
        at.push(solved.intercept);
        let (gradient, _) = problem.derivatives(&at);
        assert!(gradient.iter().all(|g| g.abs() < 1e-4), "{gradient:?}");
    }
}
