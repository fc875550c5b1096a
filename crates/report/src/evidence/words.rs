//! Evidence in words: plain sentences, unescaped, for every form of report.

use facts_engine::definitions::GroupValue;
use facts_engine::evidence::{BootstrapIntervals, Evidence, Gathering, HoldOut, Interval, Source};

use super::{
    FindingEvidence, FindingTest, Followed, Intervals, PairRow, SmallGroup, Stands, TOO_FEW, Tally,
    grids,
};
use crate::csc::Csc;
use crate::gaps::GapRow;
use crate::overview::group_names;
use crate::record::Record;
use crate::report::{Column, Report};
use crate::text::{count, number};

/// What stands where no evidence was gathered.
pub const NONE: &str = "none was gathered: nothing here tells findings from chance";

/// What stands where a definition was not tested.
pub const NOT_TESTED: &str = "Not tested: no test of this definition was asked for.";

/// How the evidence of an audit was gathered, so that it can be gathered again.
pub fn about(record: &Record) -> String {
    match &record.evidence {
        None => NONE.to_owned(),
        Some(evidence) => parts(evidence).join("; "),
    }
}

/// What was done, part by part.
fn parts(evidence: &Evidence) -> Vec<String> {
    let how = &evidence.gathering;
    let many = |number: usize, what: &str| several(number as u64, what);
    let mut parts = vec![format!("seed {}, α = {}", how.seed, level(how.alpha))];
    parts.push(match how.shuffles {
        0 => "no tests".to_owned(),
        shuffles => format!(
            "tests of {} from {}",
            many(evidence.tests.len(), "definition"),
            many(shuffles, "permutation")
        ),
    });
    parts.push(match how.resamples {
        0 => "no bootstrap intervals".to_owned(),
        _ if how.detailed == 0 => "no finding looked at closely".to_owned(),
        resamples => format!(
            "bootstrap intervals from {}{} for the first {} of each definition, and as many that pass",
            many(resamples, "resample"),
            roughly(how),
            many(how.detailed, "finding"),
        ),
    });
    if let Some(stability) = &evidence.stability {
        let variants = many(stability.variants.len(), "variant");
        parts.push(format!("stability in {variants}"));
    }
    if let Some(held) = &evidence.hold_out {
        parts.push(format!(
            "hold-out: found among {} of the people, tested among the rest",
            whole_percent(held.share)
        ));
    }
    parts
}

/// That resamples are too few for the ends of intervals: fewer than 10 lie beyond each.
fn roughly(how: &Gathering) -> String {
    let enough = (20.0 / how.alpha).ceil();
    if how.resamples as f64 >= enough {
        return String::new();
    }
    let (enough, alpha) = (count(enough as u64), level(how.alpha));
    format!(" (ends are rough: α = {alpha} needs {enough} or more)")
}

/// What is said about the findings of a definition together; none if no evidence was gathered.
pub fn of_definition(report: &Report<'_>, column: &Column) -> Option<String> {
    let alpha = report.evidence()?.gathering.alpha;
    Some(match report.tally(column) {
        Some(found) => tally(&found, alpha),
        None => NOT_TESTED.to_owned(),
    })
}

/// What stands before findings that pass, where none of those listed before does.
pub const FIRST_PASSING: &str = "None of those above passes. The first that do:";

/// How many findings of a definition pass.
pub fn tally(tally: &Tally, alpha: f64) -> String {
    let alpha = level(alpha);
    let unfair = count(tally.unfair as u64);
    let by_rate = count(tally.false_discovery as u64);
    if tally.unfair == 0 {
        return format!("No finding to test. {NOT_FAIR}.{}", powerless(tally));
    }
    if tally.family_wise > 0 {
        let rest = match tally.unfair - tally.false_discovery.max(tally.family_wise) {
            0 => String::new(),
            _ => "; the rest does not".to_owned(),
        };
        return format!(
            "{} of {} {} at α = {alpha} family-wise; {by_rate} {} by false discovery rate{rest}.{}",
            count(tally.family_wise as u64),
            several(tally.unfair as u64, "unfair subgroup"),
            plural(tally.family_wise, "pass", "passes"),
            plural(tally.false_discovery, "stand", "stands"),
            powerless(tally)
        );
    }
    let chance = match tally.false_discovery {
        0 if tally.unfair == 1 => {
            "nor does the one there is stand by false discovery rate".to_owned()
        }
        0 => format!("none of {unfair} stands by false discovery rate either"),
        by => format!(
            "{by_rate} of {unfair} {} by false discovery rate",
            plural(by, "stand", "stands")
        ),
    };
    format!(
        "No finding passes at α = {alpha} family-wise; {chance}. {NOT_FAIR}.{}",
        powerless(tally)
    )
}

/// That nothing found is not nothing there.
pub(super) const NOT_FAIR: &str = "That does not show that recourse is fair";

/// In how many subgroups nothing could have been found.
fn powerless(tally: &Tally) -> String {
    match tally.powerless {
        0 => String::new(),
        powerless => format!(
            " In {} of {} no score could have passed, even alone.",
            count(powerless as u64),
            several(tally.family as u64, "subgroup")
        ),
    }
}

/// What supports a finding, line by line: the test, what it could have shown, small groups,
/// intervals, stability.
pub fn lines(csc: &Csc) -> Vec<String> {
    let about = |evidence| about_finding(evidence, csc.score, csc.against.is_empty());
    let mut lines = csc.evidence.as_ref().map_or_else(Vec::new, about);
    lines.extend(csc.gap.as_ref().map(GapRow::sentence));
    lines
}

/// The same for a finding of which only the score is known, and whether it is fair.
pub fn about_finding(evidence: &FindingEvidence, score: f64, is_fair: bool) -> Vec<String> {
    let mut lines = Vec::new();
    match &evidence.test {
        Some(test) if is_fair => lines.extend(could_show_here(evidence, test)),
        Some(test) => {
            lines.push(test_line(test));
            if test.stands != Stands::FamilyWise {
                lines.extend(could_show_here(evidence, test));
            }
        }
        None => lines.push(not_tested(evidence)),
    }
    lines.extend(pairs(&evidence.pairs));
    lines.extend(small(&evidence.small_groups));
    lines.extend(close_lines(evidence, score));
    if evidence.intervals.is_none() && evidence.test.is_some() && !is_fair {
        lines.extend(not_close(evidence.looked_at));
    }
    lines
}

/// Which score could have been shown; none at another level than that of the test, where it is not known.
fn could_show_here(evidence: &FindingEvidence, test: &FindingTest) -> Option<String> {
    let known = evidence.tested_at == Some(evidence.judged_at);
    known.then(|| could_show(test, evidence.judged_at))
}

/// That a finding was not tested, or not at the level that is asked for.
fn not_tested(evidence: &FindingEvidence) -> String {
    match evidence.tested_at {
        None => NOT_TESTED.to_owned(),
        Some(at) => format!(
            "Not tested at α = {}: this definition was tested at α = {}.",
            level(evidence.judged_at),
            level(at)
        ),
    }
}

/// What was found by looking closely: intervals and stability.
pub fn close_lines(evidence: &FindingEvidence, score: f64) -> Vec<String> {
    let intervals = evidence.intervals.as_ref();
    let mut lines = intervals.map_or_else(Vec::new, |intervals| {
        match untelling(intervals, &evidence.small_groups) {
            Some(why) => vec![why],
            None => {
                let mut lines = interval_lines(score, intervals, evidence.alpha);
                lines.extend(why_it_holds_0(evidence));
                lines
            }
        }
    });
    lines.extend(evidence.stability.as_ref().map(holds));
    lines
}

/// Why a finding has no intervals though others have; none if none has.
pub fn not_close(looked_at: usize) -> Option<String> {
    (looked_at > 0).then(|| {
        let first = count(looked_at as u64);
        format!(
            "No intervals: it is neither among the first {first} of its definition, by score or by people, nor among the first {first} that pass."
        )
    })
}

/// What the test of a finding says.
pub fn test_line(test: &FindingTest) -> String {
    let verdict = verdict(test.stands);
    let sign = if is_bound(test.source) { "≤" } else { "=" };
    format!(
        "{verdict}: p {sign} {} alone, {} among all {} (family-wise), {} (false discovery rate).",
        p_value(test.p),
        p_value(test.family_wise),
        several(test.family as u64, "subgroup"),
        p_value(test.false_discovery)
    )
}

/// Which groups differ, of three or more; none if their pairs were not tested.
pub fn pairs(pairs: &[PairRow]) -> Option<String> {
    if pairs.is_empty() {
        return None;
    }
    let listed = |differ: bool| {
        let told = pairs.iter().filter(|pair| pair.differ == differ);
        let told: Vec<String> = told.map(pair).collect();
        told.join("; ")
    };
    let parts = [("shown to differ", true), ("not shown to differ", false)];
    let parts = parts.map(|(what, differ)| (what, listed(differ)));
    let told = parts.iter().filter(|(_, listed)| !listed.is_empty());
    let told: Vec<String> = told
        .map(|(what, listed)| format!("{what}: {listed}"))
        .collect();
    Some(format!("Pairs of groups {}.", told.join(". Pairs ")))
}

/// Two groups, who of them is worse off if that is shown, and how likely that is by chance.
pub fn pair(pair: &PairRow) -> String {
    let [a, b] = &pair.groups;
    let p = p_value(pair.together);
    match pair.worse_off.as_slice() {
        [worse] if pair.differ => {
            let better = if worse == a { b } else { a };
            format!("'{worse}' is worse off than '{better}' (p = {p})")
        }
        _ => format!("'{a}' and '{b}' (p = {p})"),
    }
}

/// Whether a p-value is only known not to be larger.
fn is_bound(source: Source) -> bool {
    source == Source::Bound
}

/// A p-value in a table: `≤ 3.1e-30` if it is only known not to be larger.
pub fn p_cell(p: f64, source: Source) -> String {
    let sign = if is_bound(source) { "≤ " } else { "" };
    format!("{sign}{}", p_value(p))
}

/// What a finding stands against, in a few words.
pub fn verdict(stands: Stands) -> &'static str {
    match stands {
        Stands::FamilyWise => "Evidence",
        Stands::FalseDiscovery => "Stands by false discovery rate only",
        Stands::CannotTell => {
            "This definition cannot tell here, though alone so wide a gap is seldom chance"
        }
        Stands::Chance => "Compatible with chance",
    }
}

/// Which score groups of these sizes could have shown.
pub fn could_show(test: &FindingTest, alpha: f64) -> String {
    let alpha = level(alpha);
    match test.least_score {
        None => format!(
            "No score could pass here at α = {alpha}: chance alone shows each that is possible too often."
        ),
        Some(score) => format!(
            "Alone, {} would pass here at α = {alpha}.",
            could_pass(score, test.least_gap)
        ),
    }
}

/// What could pass: a score, and the gap that it needs, where gaps break ties of scores.
pub fn could_pass(score: f64, gap: f64) -> String {
    let gap = match gap > 0.0 {
        true => format!(" with a gap of at least {}", share(gap)),
        false => String::new(),
    };
    match score {
        f64::INFINITY => format!("only an infinite score{gap}"),
        score => format!("a score of {} or more{gap}", number(score)),
    }
}

/// Names the small groups.
fn small(groups: &[SmallGroup]) -> Option<String> {
    if groups.is_empty() {
        return None;
    }
    let named: Vec<String> = groups
        .iter()
        .enumerate()
        .map(|(place, group)| {
            let members = match place {
                0 => several(group.members, "member"),
                _ => count(group.members),
            };
            format!("{members} of '{}'", group.name.trim())
        })
        .collect();
    Some(format!("Small groups: only {}.", named.join(", ")))
}

/// Why the intervals of a finding tell nothing, if they do not: an interval of one point must not
/// read as certainty.
fn untelling(intervals: &Intervals, small: &[SmallGroup]) -> Option<String> {
    let fewest = small.iter().min_by_key(|group| group.members);
    if let Some(few) = fewest.filter(|few| few.members < TOO_FEW) {
        return Some(format!(
            "No interval of the score: {} of '{}' cannot show how far it may be off.",
            several(few.members, "member"),
            few.name.trim()
        ));
    }
    let all = match intervals.infinite {
        1.0 => "all",
        _ => "nearly all",
    };
    (!moves(&intervals.score)).then(|| {
        format!(
            "No interval of the score: it is {} in {all} resamples, which cannot show how far it may be off.",
            number(intervals.score.percentile.low)
        )
    })
}

/// Whether resamples move a number.
fn moves(intervals: &BootstrapIntervals) -> bool {
    intervals.percentile.low != intervals.percentile.high
}

/// The intervals of the score and of the gap.
fn interval_lines(score: f64, intervals: &Intervals, alpha: f64) -> Vec<String> {
    let confidence = confidence(alpha);
    let infinite = match intervals.infinite {
        0.0 => String::new(),
        share => format!("; infinite in {} of resamples", whole_percent(share)),
    };
    let bounds = |intervals: &BootstrapIntervals| bootstrap(intervals, &number);
    vec![
        format!(
            "Score {}, {confidence} interval {}{infinite}.",
            number(score),
            bounds(&intervals.score)
        ),
        format!(
            "Worst-off less best-off group, {confidence} interval {}.",
            bounds(&intervals.gap)
        ),
    ]
}

/// Why an interval holds 0 beside a finding that passes; none if it does not.
fn why_it_holds_0(evidence: &FindingEvidence) -> Option<String> {
    let intervals = evidence.intervals.as_ref()?;
    let test = evidence.test.as_ref()?;
    let both = [&intervals.gap, &intervals.score];
    let holds_0 = both.iter().any(|of| of.best().holds(0.0));
    if test.stands != Stands::FamilyWise || !holds_0 {
        return None;
    }
    let why = match test.gap_p {
        Some(_) => {
            "what is compared moves in steps, and where resampled groups stand on the same step there is no gap; the test also weighs how far the shares lie apart"
        }
        None => {
            "the test asks how often chance alone shows as much, the interval how far the number moves with other people, and few of them can move it far"
        }
    };
    Some(format!(
        "The interval holds 0 though the finding passes: {why}."
    ))
}

/// In how many variants a finding holds.
pub fn holds(followed: &Followed) -> String {
    let Followed {
        holds, same_groups, ..
    } = followed;
    let variants = several(followed.variants.len() as u64, "variant");
    if followed.among_first {
        return format!(
            "Holds in {holds} of {variants}; against the same groups in {same_groups}."
        );
    }
    format!(
        "Against the same groups in {same_groups} of {variants}. To hold, it would have to be among the \
         first tenth of the unfair, where it is not in the audit itself either: holds in {holds}."
    )
}

/// How the hold-out was made; none if it says nothing about the report's definitions.
pub fn hold_out(report: &Report<'_>) -> Option<String> {
    let held = report.evidence()?.hold_out.as_ref()?;
    let is_told = !grids::held_out(report).is_empty();
    is_told.then(|| about_hold_out(held, &group_names(report)))
}

fn about_hold_out(held: &HoldOut, groups: &[String]) -> String {
    let among = |affected: &[u64]| {
        let each = groups.iter().zip(affected);
        let each: Vec<String> = each
            .map(|(name, &n)| format!("{} '{}'", count(n), name.trim()))
            .collect();
        each.join(", ")
    };
    format!(
        "Found among {} of the people (affected: {}), tested among the rest (affected: {}). \
         Subgroups and actions were mined anew in the first part, so these are not always the \
         findings listed above. What was found by looking for the largest scores shrinks among people who were not looked \
         at: what is left is the honest size. Where it turned, others are worse off there.",
        whole_percent(held.share),
        among(&held.found_among),
        among(&held.tested_among)
    )
}

/// Two intervals from the same resamples: `0.12 to 0.44 (BCa; percentile 0.1 to 0.46)`.
pub fn bootstrap(intervals: &BootstrapIntervals, of: &dyn Fn(f64) -> String) -> String {
    let bounds = |interval: &Interval| format!("{} to {}", of(interval.low), of(interval.high));
    let percentile = bounds(&intervals.percentile);
    match &intervals.bca {
        None => format!("{percentile} (percentile)"),
        Some(bca) => format!("{} (BCa; percentile {percentile})", bounds(bca)),
    }
}

/// The intervals of what a definition compares in one group of so many members, in the units of the
/// value; none where they tell nothing.
pub fn of_value(value: GroupValue, of: &BootstrapIntervals, members: u64) -> Option<String> {
    (members >= TOO_FEW && moves(of)).then(|| bootstrap(of, in_units(value)))
}

/// The same where there is room for one: BCa where it is defined.
pub fn best_of_value(value: GroupValue, of: &BootstrapIntervals, members: u64) -> Option<String> {
    let best = of.best();
    let in_units = in_units(value);
    (members >= TOO_FEW && moves(of) && best.low.is_finite())
        .then(|| format!("{} to {}", in_units(best.low), in_units(best.high)))
}

/// How numbers like a value are written.
fn in_units(value: GroupValue) -> &'static dyn Fn(f64) -> String {
    match value {
        GroupValue::Share(_) => &share,
        GroupValue::Count(_) | GroupValue::Cost(_) => &number,
    }
}

/// The interval of an action's effectiveness, to follow its cost; nothing if there is none.
pub fn of_effectiveness(interval: Option<&Interval>, confidence: &str) -> String {
    interval.map_or_else(String::new, |interval| {
        format!("; {confidence} interval {}", shares(interval))
    })
}

/// An interval of a share: `28.8% to 51.5%`.
pub fn shares(interval: &Interval) -> String {
    format!("{} to {}", share(interval.low), share(interval.high))
}

/// How sure an interval at 1 − α is: `95%`.
pub fn confidence(alpha: f64) -> String {
    format!("{}%", number((1.0 - alpha) * 100.0))
}

/// A p-value: four decimals, or two digits where that would say nothing.
pub fn p_value(p: f64) -> String {
    if p == 0.0 || p >= 0.001 {
        return number(p);
    }
    if p < 0.000_01 {
        return format!("{p:.1e}");
    }
    // Two digits after the zeros.
    let decimals = (1.0 - p.log10().floor()) as usize;
    format!("{p:.decimals$}").trim_end_matches('0').to_owned()
}

/// The level α, however small.
pub fn level(alpha: f64) -> String {
    p_value(alpha)
}

fn share(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A share in whole percent, unless that would say none or all where it is neither.
pub fn whole_percent(share: f64) -> String {
    let percent = share * 100.0;
    let rounded = percent.round();
    let says_too_much = (rounded == 0.0 && share > 0.0) || (rounded == 100.0 && share < 1.0);
    if says_too_much {
        format!("{}%", number(percent))
    } else {
        format!("{rounded}%")
    }
}

/// What several do, or what one does.
pub(crate) fn plural(number: usize, several: &'static str, one: &'static str) -> &'static str {
    if number == 1 { one } else { several }
}

/// `1 subgroup`, `2 subgroups`.
pub(crate) fn several(number: u64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {what}{ending}", count(number))
}
