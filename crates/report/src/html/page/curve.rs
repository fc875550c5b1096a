//! A step plot as a drawing in the page itself: it needs no script, and it prints.

use askama::Template;
use facts_engine::Audit;
use facts_engine::distribution::{Share, Subgroup, Viewpoint};

use super::MARKS;
use crate::text::{number, percent};

/// Where the plot lies in a drawing of 360 by 190: left, right, top, bottom.
const LEFT: f64 = 40.0;
const RIGHT: f64 = 350.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 150.0;

/// How wide and high a mark is.
const MARK: f64 = 9.0;

/// Marks stand at the steps if there are no more than this.
const MARKED: usize = 14;

/// Numbers written out below a plot.
const ROWS: usize = 20;

/// The share of each group that has a way within a cost, over the costs.
pub(super) struct Curve {
    pub(super) caption: String,
    /// The plot in words.
    pub(super) label: String,
    pub(super) lines: Vec<Line>,
    pub(super) costs: Vec<Tick>,
    pub(super) shares: Vec<Tick>,
    /// The cost that decides, if one does, and why.
    pub(super) deciding: Option<Tick>,
    /// The share that decides, if one does.
    pub(super) wanted: Option<Tick>,
    /// The costs with the shares of each group, for those who want numbers.
    pub(super) numbers: Vec<(String, Vec<String>)>,
}

/// The plot alone.
#[derive(Template)]
#[template(path = "plot.html")]
struct Plot {
    curve: Curve,
}

/// The distributions of a subgroup, each member by their own action, as a drawing for another page that holds
/// [`plot_marks`]; none if there is nothing to draw, or a count is suppressed.
pub fn plot(audit: &Audit, subgroup: &Subgroup) -> Option<String> {
    let groups: Vec<&str> = audit.groups.iter().map(|g| g.name.trim()).collect();
    let caption = "Share with a way out within a cost, each by their own action".to_owned();
    let deciding = Deciding::default();
    let curve = Curve::of_subgroup(caption, &groups, subgroup, Viewpoint::Micro, deciding)?;
    Plot { curve }.render().ok()
}

/// How the lines of plots are drawn, but for their colours.
pub fn plot_style() -> &'static str {
    include_str!("../assets/plots.css")
}

/// The marks of lines that plots of a page use.
pub fn plot_marks() -> &'static str {
    include_str!("../templates/marks.html")
}

/// What decides, to be drawn across the plot: a cost with why it does, and a share.
#[derive(Clone, Copy, Default)]
pub(super) struct Deciding {
    pub(super) cost: Option<(f64, &'static str)>,
    pub(super) share: Option<f64>,
}

/// The steps of one group.
pub(super) struct Line {
    pub(super) mark: usize,
    pub(super) name: String,
    pub(super) path: String,
    /// The corner at the upper left of each mark.
    pub(super) points: Vec<(String, String)>,
}

/// A place on an axis and what stands there.
pub(super) struct Tick {
    pub(super) at: String,
    pub(super) text: String,
}

impl Curve {
    /// The plot of a subgroup's distributions; none if there is nothing to draw, or a count is suppressed.
    pub(super) fn of_subgroup(
        caption: String,
        groups: &[&str],
        subgroup: &Subgroup,
        viewpoint: Viewpoint,
        deciding: Deciding,
    ) -> Option<Self> {
        let at = |level: usize| -> Option<Vec<Share>> {
            let groups = 0..groups.len();
            groups.map(|g| subgroup.ecd(viewpoint, g, level)).collect()
        };
        let shares: Option<Vec<Vec<Share>>> = (1..=subgroup.cost_levels.len()).map(at).collect();
        Self::new(caption, groups, &subgroup.cost_levels, &shares?, deciding)
    }

    /// The plot of `shares`, by cost and then by group; none if there is nothing to draw.
    pub(super) fn new(
        caption: String,
        groups: &[&str],
        costs: &[f64],
        shares: &[Vec<Share>],
        deciding: Deciding,
    ) -> Option<Self> {
        let dearest = costs
            .last()?
            .max(deciding.cost.map_or(0.0, |(cost, _)| cost));
        let end = if dearest > 0.0 { dearest * 1.06 } else { 1.0 };
        let most = shares.iter().flatten().map(|share| share.ratio());
        let most = most.fold(deciding.share.unwrap_or(0.0), f64::max);
        let top = [0.1, 0.2, 0.5, 1.0].into_iter().find(|&top| most <= top)?;
        let across = |cost: f64| LEFT + cost / end * (RIGHT - LEFT);
        let down = |share: f64| BOTTOM - share / top * (BOTTOM - TOP);
        let x = |cost: f64| format!("{:.1}", across(cost));
        let y = |share: f64| format!("{:.1}", down(share));
        let line = |(g, name): (usize, &&str)| {
            let steps = || {
                costs
                    .iter()
                    .zip(shares)
                    .map(|(&c, s)| (x(c), y(s[g].ratio())))
            };
            let corner = |place: f64| format!("{:.1}", place - MARK / 2.0);
            let marks = || {
                let marked = costs.iter().zip(shares);
                marked.map(|(&c, s)| (corner(across(c)), corner(down(s[g].ratio()))))
            };
            let path: String = steps().map(|(x, y)| format!("H{x}V{y}")).collect();
            Line {
                mark: g % MARKS,
                name: (*name).to_owned(),
                path: format!("M{LEFT} {BOTTOM}{path}H{RIGHT}"),
                points: if costs.len() > MARKED {
                    Vec::new()
                } else {
                    marks().collect()
                },
            }
        };
        let last = shares.last()?;
        let told = groups.iter().zip(last);
        let told: Vec<String> = told
            .map(|(name, share)| format!("{name} {} at any cost", percent(*share)))
            .collect();
        let numbers = costs.iter().zip(shares);
        let every = costs.len().div_ceil(ROWS);
        Some(Self {
            label: format!("{caption}: {}.", told.join(", ")),
            caption,
            lines: groups.iter().enumerate().map(line).collect(),
            costs: ticks(end)
                .map(|cost| Tick {
                    at: x(cost),
                    text: number(cost),
                })
                .collect(),
            shares: [0.0, top / 2.0, top]
                .map(|share| Tick {
                    at: y(share),
                    text: format!("{}%", number(share * 100.0)),
                })
                .into(),
            deciding: deciding.cost.map(|(cost, why)| Tick {
                at: x(cost),
                text: format!("{}, {why}", number(cost)),
            }),
            wanted: deciding.share.map(|share| Tick {
                at: y(share),
                text: format!("φ = {}", number(share)),
            }),
            numbers: numbers
                .enumerate()
                .filter(|(place, _)| (costs.len() - 1 - place).is_multiple_of(every))
                .map(|(_, (&cost, shares))| {
                    (
                        number(cost),
                        shares.iter().map(|&share| percent(share)).collect(),
                    )
                })
                .collect(),
        })
    }
}

/// Round numbers from 0, at most six of them.
fn ticks(end: f64) -> impl Iterator<Item = f64> {
    let power = 10_f64.powf((end / 5.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
    let step = step
        .into_iter()
        .find(|step| end / step <= 5.5)
        .unwrap_or(end);
    (0..=5)
        .map(move |n| f64::from(n) * step)
        .take_while(move |&at| at <= end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_go_up_at_their_costs() {
        let shares = [1, 3].map(|part| vec![Share::new(part, 4), Share::new(0, 9)]);
        let deciding = Deciding {
            cost: Some((2.0, "the budget")),
            share: Some(0.5),
        };
        let curve = Curve::new("Who".into(), &["a", "b"], &[1.0, 2.0], &shares, deciding);
        let curve = curve.unwrap();
        assert_eq!(
            curve.label,
            "Who: a 75.00% at any cost, b 0.00% at any cost."
        );
        assert_eq!(curve.lines[0].path, "M40 150H186.2V115.0H332.5V45.0H350");
        let tick = curve.deciding.unwrap();
        assert_eq!((&*tick.at, &*tick.text), ("332.5", "2, the budget"));
        let tick = curve.wanted.unwrap();
        assert_eq!((&*tick.at, &*tick.text), ("80.0", "φ = 0.5"));
        assert_eq!(curve.shares[2].text, "100%");
        let at: Vec<&str> = curve.costs.iter().map(|tick| tick.text.as_str()).collect();
        assert_eq!(at, ["0", "0.5", "1", "1.5", "2"]);
        assert_eq!(
            curve.numbers[1],
            ("2".into(), vec!["75.00%".into(), "0.00%".into()])
        );
        assert!(Curve::new("Who".into(), &["a"], &[], &[], Deciding::default()).is_none());
    }
}
