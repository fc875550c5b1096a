//! What is said in each case.

use facts_engine::definitions::GroupValue;
use facts_engine::distribution::Share;
use facts_engine::evidence::{BootstrapIntervals, Interval, Outcome, Source};

use super::words::{self, p_value, whole_percent};
use super::*;
use crate::csc::{Csc, CscGroup};
use crate::text::{self, Palette};

fn test(p: f64, family_wise: f64, false_discovery: f64) -> FindingTest {
    let tested = Tested {
        p,
        family_wise,
        false_discovery,
        source: Source::Exact,
        least_score: Some(0.23),
        least_gap: 0.0,
        together: None,
        gap_p: None,
    };
    FindingTest {
        p,
        family_wise,
        false_discovery,
        source: tested.source,
        family: 13_028,
        stands: Stands::new(&tested, 0.05),
        least_score: tested.least_score,
        least_gap: tested.least_gap,
        together: tested.together(1),
        gap_p: tested.gap_p,
    }
}

fn finding(test: Option<FindingTest>) -> Csc {
    let group = |name: &str, members| CscGroup {
        name: name.to_owned(),
        members,
        affected: 1_000,
        value: GroupValue::Share(Share::new(1, members)),
        interval: None,
        actions: Vec::new(),
        none: None,
    };
    Csc {
        finding: "0123456789ab".to_owned(),
        subgroup: 0,
        rank: Some(1),
        score: 0.31,
        against: vec!["Female".to_owned()],
        definition: "Equal Effectiveness (micro)".to_owned(),
        predicate: "job = clerk".to_owned(),
        items: Vec::new(),
        groups: vec![group("Female", 7), group("Male", 64)],
        significant: None,
        evidence: Some(FindingEvidence {
            looked_at: 0,
            alpha: 0.05,
            judged_at: 0.05,
            tested_at: test.as_ref().map(|_| 0.05),
            test,
            pairs: Vec::new(),
            small_groups: Vec::new(),
            intervals: None,
            stability: None,
        }),
        gap: None,
    }
}

fn interval(low: f64, high: f64) -> Interval {
    Interval { low, high }
}

fn intervals(score: BootstrapIntervals, infinite: f64) -> Intervals {
    Intervals {
        score,
        gap: BootstrapIntervals {
            percentile: interval(-0.46, -0.1),
            bca: Some(interval(-0.44, -0.12)),
        },
        infinite,
    }
}

#[test]
fn a_finding_that_passes_says_so_and_no_more() {
    let csc = finding(Some(test(0.000_12, 0.004, 0.000_6)));
    assert!(!csc.is_grey());
    assert_eq!(
        words::lines(&csc),
        [
            "Evidence: p = 0.00012 alone, 0.004 among all 13,028 subgroups (family-wise), 0.0006 (false discovery rate)."
        ]
    );
}

#[test]
fn a_finding_that_does_not_pass_is_grey_and_says_what_could_have_been_shown() {
    let csc = finding(Some(test(0.03, 0.61, 0.2)));
    assert!(csc.is_grey());
    assert_eq!(
        words::lines(&csc),
        [
            "Compatible with chance: p = 0.03 alone, 0.61 among all 13,028 subgroups (family-wise), 0.2 (false discovery rate).",
            "Alone, a score of 0.23 or more would pass here at α = 0.05.",
        ]
    );
    let shown = text::csc(&csc, &Palette::COLOURED);
    let dim = Palette::COLOURED.aside.render().to_string();
    assert!(shown.lines().all(|line| line.starts_with(&dim)), "{shown}");
    // Without colours the words are the same.
    let plain = text::csc(&csc, &Palette::PLAIN);
    assert!(plain.contains("    Bias against 'Female' by Equal Effectiveness (micro). Unfairness score = 0.31.\n    Compatible with chance: p = 0.03 alone"));
    assert!(!plain.contains('\u{1b}'));
}

#[test]
fn what_stands_by_false_discovery_rate_alone_is_neither() {
    let csc = finding(Some(test(0.001, 0.2, 0.05)));
    assert!(csc.is_grey());
    assert!(words::lines(&csc)[0].starts_with("Stands by false discovery rate only: p = 0.001 "));
}

#[test]
fn the_level_itself_passes() {
    assert_eq!(test(0.01, 0.05, 0.05).stands, Stands::FamilyWise);
    assert_eq!(test(0.01, 0.0501, 0.05).stands, Stands::FalseDiscovery);
    assert_eq!(test(0.01, 0.0501, 0.0501).stands, Stands::Chance);
}

#[test]
fn groups_powerless_for_any_score_are_named() {
    let hopeless = FindingTest {
        least_score: None,
        ..test(0.4, 1.0, 1.0)
    };
    let mut csc = finding(Some(hopeless));
    if let Some(evidence) = &mut csc.evidence {
        evidence.small_groups = vec![
            SmallGroup {
                name: "Female".to_owned(),
                members: 7,
            },
            SmallGroup {
                name: "Male".to_owned(),
                members: 12,
            },
        ];
    }
    assert_eq!(
        words::lines(&csc)[1..],
        [
            "No score could pass here at α = 0.05: chance alone shows each that is possible too often.",
            "Small groups: only 7 members of 'Female', 12 of 'Male'.",
        ]
    );
}

#[test]
fn a_fair_subgroup_says_what_could_have_been_shown() {
    let mut csc = finding(Some(test(1.0, 1.0, 1.0)));
    csc.against.clear();
    (csc.rank, csc.score) = (None, 0.0);
    assert!(!csc.is_grey());
    assert_eq!(
        words::lines(&csc),
        ["Alone, a score of 0.23 or more would pass here at α = 0.05."]
    );
    let infinite = FindingTest {
        least_score: Some(f64::INFINITY),
        ..test(1.0, 1.0, 1.0)
    };
    let line = words::could_show(&infinite, 0.05);
    assert_eq!(
        line,
        "Alone, only an infinite score would pass here at α = 0.05."
    );
}

#[test]
fn a_bound_is_said_to_be_one() {
    let bound = FindingTest {
        source: Source::Bound,
        ..test(0.001, 0.01, 0.01)
    };
    assert!(words::test_line(&bound).starts_with("Evidence: p ≤ 0.001 alone"));
}

#[test]
fn a_finding_without_intervals_says_why_where_others_have_some() {
    let mut csc = finding(Some(test(0.000_12, 0.004, 0.000_6)));
    if let Some(evidence) = &mut csc.evidence {
        evidence.looked_at = 10;
    }
    let why = "No intervals: it is neither among the first 10 of its definition, by score or by people, nor among the first 10 that pass.";
    assert_eq!(words::lines(&csc).last().map(String::as_str), Some(why));
    csc.against.clear();
    assert_ne!(words::lines(&csc).last().map(String::as_str), Some(why));
}

#[test]
fn what_was_not_tested_says_so_and_is_not_grey() {
    let csc = finding(None);
    assert!(!csc.is_grey());
    assert_eq!(words::lines(&csc), [words::NOT_TESTED]);
    let without = Csc {
        evidence: None,
        ..csc
    };
    assert!(words::lines(&without).is_empty());
}

#[test]
fn intervals_name_their_kind_and_infinite_resamples() {
    let mut csc = finding(Some(test(0.001, 0.01, 0.01)));
    let both = BootstrapIntervals {
        percentile: interval(0.1, 0.46),
        bca: Some(interval(0.12, 0.44)),
    };
    let mut lines = |score: f64, found: Intervals| {
        csc.score = score;
        if let Some(evidence) = &mut csc.evidence {
            evidence.intervals = Some(found);
        }
        words::lines(&csc)[1..].to_vec()
    };
    assert_eq!(
        lines(0.31, intervals(both, 0.0)),
        [
            "Score 0.31, 95% interval 0.12 to 0.44 (BCa; percentile 0.1 to 0.46).",
            "Worst-off less best-off group, 95% interval -0.44 to -0.12 (BCa; percentile -0.46 to -0.1).",
        ]
    );
    let open = BootstrapIntervals {
        percentile: interval(2.0, f64::INFINITY),
        bca: None,
    };
    assert_eq!(
        lines(f64::INFINITY, intervals(open, 0.83))[0],
        "Score ∞, 95% interval 2 to ∞ (percentile); infinite in 83% of resamples."
    );
}

/// Where a finding passes, the interval beside it excludes 0, or a line says why it does not.
#[test]
fn an_interval_that_holds_0_beside_a_finding_that_passes_is_explained() {
    let both = |low: f64, high: f64| BootstrapIntervals {
        percentile: interval(low, high),
        bca: None,
    };
    let lines = |family_wise: f64, gap_p: Option<f64>, score, gap| {
        let tested = FindingTest {
            gap_p,
            ..test(0.001, family_wise, 0.01)
        };
        let mut csc = finding(Some(tested));
        csc.evidence.as_mut().unwrap().intervals = Some(Intervals {
            score,
            gap,
            infinite: 0.0,
        });
        words::lines(&csc)
    };
    let why = |lines: &[String]| {
        let start = "The interval holds 0 though the finding passes: ";
        let why = lines.iter().find_map(|line| line.strip_prefix(start));
        why.map(str::to_owned)
    };
    let (above, below) = (both(0.1, 0.5), both(-0.5, -0.1));
    assert_eq!(why(&lines(0.01, None, above, below)), None);
    // An end at 0 counts: scores are never below it.
    for (score, gap) in [(above, both(-0.5, 0.1)), (both(0.0, 0.5), below)] {
        let of_means = why(&lines(0.01, None, score, gap)).unwrap();
        assert!(of_means.starts_with("the test asks"), "{of_means}");
        let of_steps = why(&lines(0.01, Some(0.001), score, gap)).unwrap();
        assert!(
            of_steps.starts_with("what is compared moves in steps"),
            "{of_steps}"
        );
        assert_eq!(why(&lines(0.2, None, score, gap)), None);
    }
}

#[test]
fn an_interval_of_one_point_is_no_certainty() {
    let mut csc = finding(Some(test(0.001, 0.01, 0.01)));
    let mut line = |score: f64, infinite: f64, members: u64| {
        csc.score = score;
        let point = BootstrapIntervals {
            percentile: interval(score, score),
            bca: None,
        };
        if let Some(evidence) = &mut csc.evidence {
            evidence.intervals = Some(intervals(point, infinite));
            evidence.small_groups = vec![SmallGroup {
                name: "Female".to_owned(),
                members,
            }];
        }
        words::lines(&csc)[2..].to_vec()
    };
    assert_eq!(
        line(1.0, 0.0, 1),
        ["No interval of the score: 1 member of 'Female' cannot show how far it may be off."]
    );
    assert_eq!(
        line(1.0, 0.0, 5),
        [
            "No interval of the score: it is 1 in nearly all resamples, which cannot show how far it may be off."
        ]
    );
    assert_eq!(
        line(f64::INFINITY, 1.0, 5),
        [
            "No interval of the score: it is ∞ in all resamples, which cannot show how far it may be off."
        ]
    );
    // The same for what a definition compares.
    let value = GroupValue::Share(Share::new(1, 4));
    let wide = BootstrapIntervals {
        percentile: interval(0.1, 0.4),
        bca: None,
    };
    let point = BootstrapIntervals {
        percentile: interval(0.25, 0.25),
        bca: None,
    };
    assert_eq!(
        words::best_of_value(value, &wide, 5).as_deref(),
        Some("10.0% to 40.0%")
    );
    assert_eq!(
        words::of_value(value, &wide, 5).as_deref(),
        Some("10.0% to 40.0% (percentile)")
    );
    for (of, members) in [(&wide, 4), (&point, 100)] {
        assert_eq!(words::best_of_value(value, of, members), None);
        assert_eq!(words::of_value(value, of, members), None);
    }
}

#[test]
fn a_definition_says_how_many_pass() {
    let found = |unfair, family_wise, false_discovery, powerless| Tally {
        family: 1_000,
        unfair,
        family_wise,
        false_discovery,
        powerless,
        cut_off: Some(0.0001),
    };
    let say = |tally: Tally| words::tally(&tally, 0.05);
    assert_eq!(
        say(found(430, 12, 31, 0)),
        "12 of 430 unfair subgroups pass at α = 0.05 family-wise; 31 stand by false discovery rate; the rest does not."
    );
    assert!(say(found(430, 12, 31, 5)).ends_with(
        " the rest does not. In 5 of 1,000 subgroups no score could have passed, even alone."
    ));
    assert_eq!(
        say(found(1, 1, 1, 0)),
        "1 of 1 unfair subgroup passes at α = 0.05 family-wise; 1 stands by false discovery rate."
    );
    assert_eq!(
        say(found(430, 0, 0, 312)),
        "No finding passes at α = 0.05 family-wise; none of 430 stands by false discovery rate either. That does not show that recourse is fair. In 312 of 1,000 subgroups no score could have passed, even alone."
    );
    assert_eq!(
        say(found(430, 0, 3, 0)),
        "No finding passes at α = 0.05 family-wise; 3 of 430 stand by false discovery rate. That does not show that recourse is fair."
    );
    assert_eq!(
        say(found(0, 0, 0, 0)),
        "No finding to test. That does not show that recourse is fair."
    );
}

#[test]
fn variants_are_counted() {
    let outcome = |holds| Outcome {
        rank: Some(4),
        of: 1_200,
        score: f64::INFINITY,
        against: vec!["Female".to_owned()],
        same_groups: true,
        holds,
    };
    let finding = FindingStability {
        definition: "equal-choice:0.3".to_owned(),
        subgroup: 0,
        among_first: true,
        outcomes: vec![Some(outcome(true)), Some(outcome(false)), None],
    };
    let variants = ["support × 2", "support × ½", "sample 1"].map(str::to_owned);
    let mut followed = followed(&finding, &variants);
    assert_eq!(
        words::holds(&followed),
        "Holds in 1 of 3 variants; against the same groups in 2."
    );
    followed.among_first = false;
    assert_eq!(
        words::holds(&followed),
        "Against the same groups in 2 of 3 variants. To hold, it would have to be among the first tenth of the unfair, where it is not in the audit itself either: holds in 1."
    );
    assert_eq!(
        grids::variants(&followed).text(0),
        "\
variant      score        rank     of  bias against  holds
support × 2      ∞           4  1,200  Female        yes
support × ½      ∞           4  1,200  Female        no
sample 1            not ranked                       no
"
    );
}

#[test]
fn numbers_say_neither_more_nor_less() {
    let said = [
        1.0, 0.0503, 0.004, 0.001, 0.000_999, 0.000_12, 0.000_012, 3.14e-30,
    ];
    assert_eq!(
        said.map(p_value),
        [
            "1", "0.0503", "0.004", "0.001", "0.001", "0.00012", "0.000012", "3.1e-30"
        ]
    );
    let shares = [0.0, 0.0004, 0.83, 0.9996, 1.0];
    assert_eq!(
        shares.map(whole_percent),
        ["0%", "0.04%", "83%", "99.96%", "100%"]
    );
    assert_eq!(words::confidence(0.05), "95%");
    assert_eq!(words::confidence(0.001), "99.9%");
}
