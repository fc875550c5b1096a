//! Two audits compared, as text, Markdown and HTML.

use facts_engine::comparison::Tally;

use super::{Change, Changed, Diff, GapChange};
use crate::evidence::words::{confidence, level, p_value, several};
use crate::grid::{Grid, Side, escape};
use crate::text::{Palette, count, number, styled, visible};

/// What each sort of change is called, in the order in which they are listed.
const SORTS: [(Change, &str); 11] = [
    (Change::Appeared, "appeared"),
    (Change::Grew, "grew"),
    (Change::Turned, "turned"),
    (Change::Shrank, "shrank"),
    (Change::Vanished, "vanished"),
    (Change::LevelledDown, "levelled down"),
    (Change::Mixed, "mixed"),
    (Change::OnlyNow, "only now"),
    (Change::OnlyBefore, "only before"),
    (Change::NotTested, "not tested"),
    (Change::TooClose, "too close to tell"),
];

impl Diff {
    /// The comparison as text, with at most `top` findings of each sort and definition.
    pub fn text(&self, top: usize, palette: &Palette) -> String {
        let mut page = String::new();
        if let Some(people) = &self.people {
            page += &people.text(palette);
            page.push('\n');
        }
        for warning in &self.warnings {
            page += &format!(
                "{}: {}\n",
                styled(palette.bias, "warning"),
                visible(warning)
            );
        }
        if !self.warnings.is_empty() {
            page.push('\n');
        }
        for line in self.about() {
            page += &format!("{line}\n");
        }
        page.push('\n');
        page += &self.summary().text(0);
        for (title, shown, more) in self.sections(top) {
            page += &format!("\n{}\n", styled(palette.heading, title));
            for changed in &shown {
                page += &format!("{}\n", changed.text(self.alpha, palette));
            }
            if more > 0 {
                page += &format!("  … and {} more; -n shows more\n", count(more as u64));
            }
        }
        page
    }

    /// The comparison as Markdown.
    pub fn markdown(&self, top: usize) -> String {
        let mut page = "# Findings before and after\n\n".to_owned();
        if let Some(people) = &self.people {
            page += &people.markdown();
            page.push('\n');
        }
        for warning in &self.warnings {
            page += &format!("> {}\n\n", escape(warning));
        }
        for line in self.about() {
            page += &format!("{}\n\n", escape(&line));
        }
        page += &self.summary().markdown();
        for (title, shown, more) in self.sections(top) {
            page += &format!("\n## {}\n\n```\n", escape(title));
            for changed in shown {
                page += &format!("{}\n", changed.text(self.alpha, &Palette::PLAIN));
            }
            page += "```\n";
            if more > 0 {
                page += &format!("\n… and {} more.\n", count(more as u64));
            }
        }
        page
    }

    /// The comparison as one HTML page that needs nothing else.
    pub fn html(&self, top: usize) -> String {
        crate::html::comparison(self, top)
    }

    /// How it was compared, what became of the subgroups, and what the words mean.
    pub(crate) fn about(&self) -> Vec<String> {
        let mut about = Vec::new();
        if let Some(tally) = &self.subgroups {
            about.push(self.about_subgroups(tally));
            about.push(format!(
                "Appeared, grew, turned, shrank, vanished, levelled down: the gap behind the finding moved by more than chance, after correction for all {} shares and gaps of subgroups (α = {}).",
                count(self.tests as u64),
                level(self.alpha)
            ));
        } else {
            about.push("The audits compare other groups: nothing can be tested.".to_owned());
        }
        about.push(format!(
            "Unchanged, with the same score and no gap that is shown to have moved: {}.",
            several(self.unchanged as u64, "finding"),
        ));
        about
    }

    fn about_subgroups(&self, tally: &Tally) -> String {
        let how = if self.same_people {
            "Compared by the people whose answer changed, the same people under both models."
        } else {
            "Compared as two samples of people."
        };
        let all = tally.grew + tally.shrank + tally.turned + tally.levelled_down + tally.too_close;
        let mut moved = Vec::new();
        for (subgroups, became) in [
            (tally.grew, "grew"),
            (tally.shrank, "shrank"),
            (tally.levelled_down, "was levelled down"),
            (tally.turned, "turned"),
        ] {
            if subgroups > 0 {
                moved.push(format!("{became} in {}", count(subgroups as u64)));
            }
        }
        let moved = if moved.is_empty() {
            "chance could explain how the gap moved in each".to_owned()
        } else {
            let rest = count(tally.too_close as u64);
            format!(
                "the gap {}; in {rest} chance could explain how it moved",
                moved.join(", ")
            )
        };
        let mut shares = Vec::new();
        for (subgroups, became) in [(tally.fell, "fell"), (tally.rose, "rose")] {
            if subgroups > 0 {
                shares.push(format!("{became} in {}", count(subgroups as u64)));
            }
        }
        let shares = match shares.as_slice() {
            [] => String::new(),
            shares => format!(
                " Whatever the gap, the share of some group with a way {}.",
                shares.join(" and ")
            ),
        };
        match all {
            0 => format!("{how} No subgroup is ranked by both audits."),
            _ => format!(
                "{how} Of the {} that both audits rank, {moved}.{shares}",
                several(all as u64, "subgroup")
            ),
        }
    }

    /// By definition with changes: its title, the first of each sort, and how many more there are.
    pub(crate) fn sections(
        &self,
        top: usize,
    ) -> impl Iterator<Item = (&str, Vec<&Changed>, usize)> {
        let definitions = self.definitions.iter().zip(&self.titles);
        definitions.filter_map(move |(id, title)| {
            let all: Vec<&Changed> = self
                .changed
                .iter()
                .filter(|c| c.definition == *id)
                .collect();
            let sorts = all.chunk_by(|a, b| a.change == b.change);
            let shown: Vec<&Changed> = sorts
                .flat_map(|sort| sort.iter().take(top).copied())
                .collect();
            let more = all.len() - shown.len();
            (!shown.is_empty()).then_some((title.as_str(), shown, more))
        })
    }

    /// The counts by definition; of the sorts that are rare, those that there are.
    pub(crate) fn summary(&self) -> Grid {
        let rare = [Change::Mixed, Change::NotTested];
        let there = |sort: Change| self.changed.iter().any(|c| c.change == sort);
        let sorts = SORTS.iter();
        let sorts: Vec<_> = sorts
            .filter(|(sort, _)| !rare.contains(sort) || there(*sort))
            .collect();
        let names = sorts.iter().map(|(_, name)| (*name, Side::Right));
        let mut grid = Grid::new([("definition", Side::Left)].into_iter().chain(names));
        for (id, title) in self.definitions.iter().zip(&self.titles) {
            let of = |(sort, _): &&(Change, &str)| {
                let changed = self.changed.iter();
                let n = changed.filter(|c| c.definition == *id && c.change == *sort);
                count(n.count() as u64)
            };
            grid.row(std::iter::once(title.clone()).chain(sorts.iter().map(of)));
        }
        grid
    }
}

impl Changed {
    /// What became of it, in a word or two.
    pub fn word(&self) -> &'static str {
        let sort = SORTS.iter().find(|(sort, _)| *sort == self.change);
        sort.map_or("", |(_, word)| word)
    }

    /// A few lines, as a person reads them.
    pub fn text(&self, alpha: f64, palette: &Palette) -> String {
        let (sign, style) = match self.change {
            Change::Appeared => ("+", palette.bias),
            Change::Grew => ("^", palette.bias),
            Change::Turned => ("~", palette.who),
            Change::Shrank => ("v", palette.fair),
            Change::Vanished => ("-", palette.fair),
            Change::LevelledDown => ("=", palette.bias),
            Change::Mixed => ("x", palette.who),
            Change::OnlyNow => (">", palette.who),
            Change::OnlyBefore => ("<", palette.who),
            Change::NotTested | Change::TooClose => ("?", palette.who),
        };
        let mut lines = format!(
            "{} {}: {}\n    {} -> {}  [{}]",
            styled(style, sign),
            self.word(),
            styled(palette.who, visible(&self.predicate)),
            self.old.words(),
            self.new.words(),
            self.finding
        );
        if let Some(gap) = &self.gap {
            lines += &format!("\n    {}", visible(&gap.words(alpha)));
        }
        lines
    }
}

impl GapChange {
    /// As a person reads it.
    fn words(&self, alpha: f64) -> String {
        format!(
            "{} behind {} within cost {}: {:.1} -> {:.1} points, moved {:+.1} ({} interval {:+.1} to {:+.1}), p = {}, corrected {}",
            self.worse_off,
            self.better_off,
            number(self.cost),
            self.before * 100.0,
            self.now * 100.0,
            self.moved * 100.0,
            confidence(alpha),
            self.interval.low * 100.0,
            self.interval.high * 100.0,
            p_value(self.p),
            p_value(self.corrected),
        )
    }
}
