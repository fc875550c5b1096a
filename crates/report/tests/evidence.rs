//! Evidence in the forms that are text: what each says, and what it does where there is none.
#![allow(clippy::unwrap_used)]

mod awkward;

use awkward::evidence::with_evidence;
use awkward::{IMAGE, SCRIPT, awkward_audit, awkward_record};
use facts_report::sheets::{self, Cells, Sheet, Shows};
use facts_report::text::{self, Palette};
use facts_report::{Diff, Order, Record, Report, Showing, evidence, json, markdown, overview};
use serde_json::Value;

fn record() -> Record {
    with_evidence(awkward_record(awkward_audit()))
}

/// The first findings by score: the evidence is made up in that order.
fn by_score(top: usize) -> Showing {
    Showing {
        order: Order::Score,
        ..Showing::top(top)
    }
}

/// What every finding of a report is about, by definition and rank.
fn findings(report: &Report<'_>, showing: &Showing) -> Vec<Vec<facts_report::Csc>> {
    let columns = report.columns.iter();
    columns.map(|c| report.findings(c, showing)).collect()
}

#[test]
fn text_says_how_it_was_gathered_who_passes_and_what_was_held_out() {
    let record = record();
    let report = Report::new(&record).unwrap();
    let page = text::report(&report, &by_score(3), &Palette::PLAIN);
    for said in [
        "Evidence   seed 1, α = 0.05; tests of 6 definitions from 1,000 permutations; bootstrap intervals from 1,000 resamples for the first 1 finding of each definition, and as many that pass; stability in 20 variants; hold-out: found among 50% of the people, tested among the rest\n",
        "\n1 of ",
        " passes at α = 0.05 family-wise; 2 stand by false discovery rate; the rest does not. In ",
        // 9 of 25, as tables of exact intervals have it.
        " with effectiveness 36.00% (cost 2.5; 95% interval 18.0% to 57.5%)\n",
        "    Evidence: p = 0.00012 alone, 0.004 among all ",
        "    Stands by false discovery rate only: p = 0.002 alone, 0.2 among all ",
        "    Compatible with chance: p = 0.04 alone, 0.61 among all ",
        "    No score could pass here at α = 0.05: chance alone shows each that is possible too often.\n",
        "    Small groups: only ",
        "    Score ∞, 95% interval 0.125 to ∞ (percentile); infinite in 83% of resamples.\n",
        "    Holds in 15 of 20 variants; against the same groups in 18.\n",
        "Not tested: no test of this definition was asked for.\n",
        "\nHold-out\nFound among 50% of the people (affected: ",
        "nobody to test",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    let held = page.split("Hold-out\n").nth(1).unwrap();
    assert!(held.contains("  turned"), "{held}");
    // Definitions that were not carried over have no hold-out to tell of.
    let other = facts_engine::definitions::parse("equal-choice:0.7").unwrap();
    let other = Report::by(&record, vec![other]);
    assert_eq!(text::hold_out(&other, &Palette::PLAIN), "");
    let cells = "0.5             0.4     80%  ≤ 0.003         0.03  yes";
    assert!(held.contains(cells), "{held}");
}

/// Of several groups, those are named of which a pair shows it, in every form.
#[test]
fn pairs_of_groups_are_told() {
    let record = record();
    let report = Report::new(&record).unwrap();
    let column = &report.columns[0];
    let names: Vec<&str> = (record.audit.groups.iter())
        .map(|group| group.name.trim())
        .collect();
    let line = format!(
        "Pairs of groups shown to differ: '{}' is worse off than '{}' (p = 0.03). Pairs not shown to differ: '{}' and '{}' (p = 0.4).",
        names[0], names[1], names[0], names[2]
    );
    let first = &report.findings(column, &by_score(1))[0];
    assert!(evidence::words::lines(first).contains(&line), "{line}");
    let document = json::json(&report, &by_score(1)).unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    let text = document.to_string();
    assert!(text.contains(r#""differ":true"#) && text.contains(r#""differ":false"#));
    let sheet = sheets::pairs(&report);
    let tested = report.evidence().unwrap().tests.iter();
    let all: usize = tested.map(|tests| tests.pairs.len()).sum();
    assert!(all > 0 && sheet.rows() == all, "{all}");
    let named = self::names(&sheets::subgroups(&report));
    assert!(named.contains(&"pairs shown to differ".to_owned()));
}

#[test]
fn without_evidence_one_line_says_so() {
    let record = awkward_record(awkward_audit());
    let report = Report::new(&record).unwrap();
    let page = text::report(&report, &by_score(3), &Palette::PLAIN);
    assert!(
        page.contains("Evidence   none was gathered: nothing here tells findings from chance\n")
    );
    // What counts alone can tell has intervals all the same.
    for word in ["family-wise", "ested", "Hold-out", "percentile"] {
        assert!(!page.contains(word), "{word}");
    }
    let names: Vec<String> = names(&sheets::subgroups(&report));
    assert!(!names.contains(&"p".to_owned()), "{names:?}");
    let document: Value =
        serde_json::from_slice(&json::json(&report, &by_score(3)).unwrap()).unwrap();
    assert_eq!(document["evidence"], Value::Null);
    assert_eq!(document["definitions"][0]["evidence"], Value::Null);
    assert_eq!(
        document["definitions"][0]["findings"][0]["evidence"],
        Value::Null
    );
}

#[test]
fn too_few_resamples_and_a_tiny_level_are_told_as_they_are() {
    let mut record = record();
    let gathering = &mut record.evidence.as_mut().unwrap().gathering;
    (gathering.resamples, gathering.alpha) = (399, 0.05);
    let said = evidence::words::about(&record);
    let rough = "bootstrap intervals from 399 resamples (ends are rough: α = 0.05 needs 400 or more) for the";
    assert!(said.contains(rough), "{said}");
    let gathering = &mut record.evidence.as_mut().unwrap().gathering;
    (gathering.resamples, gathering.alpha, gathering.detailed) = (400, 0.000_001, 0);
    let said = evidence::words::about(&record);
    assert!(said.starts_with("seed 1, α = 1.0e-6; "), "{said}");
    assert!(said.contains("; no finding looked at closely"), "{said}");
}

#[test]
fn only_what_passes_is_shown_if_asked() {
    let record = record();
    let report = Report::new(&record).unwrap();
    let showing = Showing {
        passing: true,
        ..by_score(10)
    };
    let found = findings(&report, &showing);
    let (not_tested, tested) = found.split_last().unwrap();
    assert!(not_tested.is_empty());
    for (column, findings) in report.columns.iter().zip(tested) {
        let first = report.findings(column, &by_score(1));
        assert_eq!(*findings, first);
    }
    let page = text::findings(&report, &showing, &Palette::PLAIN);
    assert!(!page.contains("Compatible with chance:"));
}

#[test]
fn the_headline_is_of_those_that_pass_alone() {
    let mut record = record();
    let report = Report::new(&record).unwrap();
    let said = evidence::headline(&report);
    assert!(
        said[0].starts_with("Of the 6 findings that pass, "),
        "{said:?}"
    );
    let passed = "6 of ";
    let together = " findings pass at α = 0.05 for all 6 definitions together, under 6 of them. Each definition by itself: 6 pass.";
    assert!(
        said[1].starts_with(passed) && said[1].ends_with(together),
        "{said:?}"
    );
    assert_eq!(said[2..], ["1 more definition not tested."]);
    // The sums over the groups are those of the findings that pass, not of all.
    let passing = report.columns.iter().map(|column| report.passing(column));
    let against: usize = passing
        .flat_map(|ranking| ranking.ranked)
        .map(|ranked| ranked.assessment.against.len())
        .sum();
    let told = said[0].split(',').skip(1).map(|part| {
        let many = part.split_whitespace().next().unwrap();
        if many == "all" {
            6
        } else {
            many.parse().unwrap()
        }
    });
    assert_eq!(told.sum::<usize>(), against);
    let page = markdown::markdown(&report, &by_score(1));
    assert!(page.contains("## Against whom\n\nOf the 6 findings that pass, "));

    // What passes by itself need not pass with the others.
    let evidence = record.evidence.as_mut().unwrap();
    let tested = evidence.tests[1].tested.iter_mut().flatten();
    tested.for_each(|tested| tested.family_wise *= 2.1);
    let said = evidence::headline(&Report::new(&record).unwrap());
    assert!(
        said[1].ends_with("together, under 5 of them. Each definition by itself: 6 pass."),
        "{said:?}"
    );
    let tests = &mut record.evidence.as_mut().unwrap().tests;
    let all = tests
        .iter_mut()
        .flat_map(|tests| &mut tests.tested)
        .flatten();
    all.for_each(|tested| tested.together = Some(1.0));
    let said = evidence::headline(&Report::new(&record).unwrap());
    assert_eq!(
        said[0],
        "No finding passes at α = 0.05 for all 6 definitions together; 6 findings pass where each definition is looked at by itself. That does not show that recourse is fair."
    );

    // Where none passes, nobody is named, and that is not fairness.
    let tests = &mut record.evidence.as_mut().unwrap().tests;
    let all = tests
        .iter_mut()
        .flat_map(|tests| &mut tests.tested)
        .flatten();
    all.for_each(|tested| (tested.family_wise, tested.false_discovery) = (1.0, 1.0));
    let report = Report::new(&record).unwrap();
    let said = evidence::headline(&report);
    assert_eq!(
        said[0],
        "No finding passes at α = 0.05 for all 6 definitions together. That does not show that recourse is fair."
    );
    let page = facts_report::html(&report);
    assert!(!page.contains("most unfair subgroups are unfair against"));
}

/// The rank of a subgroup by the first definition.
fn unfair_rank(report: &Report<'_>, subgroup: usize) -> u32 {
    let mut unfair = report.columns[0].ranking.unfair().iter();
    unfair
        .find(|r| r.subgroup == subgroup)
        .unwrap()
        .rank
        .unwrap()
}

#[test]
fn where_what_passes_comes_later_it_is_listed_too() {
    let mut record = record();
    // The first finding of the first definition no longer passes; its last one does.
    let report = Report::new(&record).unwrap();
    let unfair = report.columns[0].ranking.unfair();
    let (first, last) = (unfair[0].subgroup, unfair[unfair.len() - 1].subgroup);
    let tested = &mut record.evidence.as_mut().unwrap().tests[0].tested;
    tested.swap(first, last);
    let report = Report::new(&record).unwrap();
    let said = "None of those above passes. The first that do:\n\n";
    let (few, all) = (by_score(2), by_score(100));
    let page = |showing: &Showing| text::findings(&report, showing, &Palette::PLAIN);
    let rank = unfair_rank(&report, last);
    assert_eq!(page(&few).matches(said).count(), 1);
    assert!(page(&few).contains(&format!("{said}Rank {rank}, finding ")));
    assert_eq!(page(&all).matches(said).count(), 0);
    let page = markdown::markdown(&report, &few);
    assert_eq!(page.matches(said).count(), 1);
    assert!(page.contains(&format!("{said}**Rank {rank}: if ")));
    let document: Value = serde_json::from_slice(&json::json(&report, &few).unwrap()).unwrap();
    assert_eq!(document["definitions"][0]["first_passing"][0]["rank"], rank);
    assert_eq!(
        document["definitions"][1]["first_passing"],
        Value::Array(Vec::new())
    );
    // The page for a browser has room for both; it lists findings in the order for people.
    let mut record = self::record();
    let report = Report::new(&record).unwrap();
    let column = &report.columns[0];
    let by_score = column.ranking.unfair()[0].subgroup;
    let subgroups = &record.audit.subgroups;
    let for_people = (column.ranking).for_people(column.definition.as_ref(), subgroups);
    let last = for_people.unfair().last().unwrap().subgroup;
    let tested = &mut record.evidence.as_mut().unwrap().tests[0].tested;
    tested.swap(by_score, last);
    let page = facts_report::html(&Report::new(&record).unwrap());
    let heading = "The first of those that pass</h4>";
    let (first, _) = page.split_once("id=\"definition-2\"").unwrap();
    assert_eq!(first.matches(heading).count(), 1);
}

#[test]
fn markdown_keeps_names_in_their_place_and_folds_the_variants() {
    let record = record();
    let report = Report::new(&record).unwrap();
    let page = markdown::markdown(&report, &by_score(3));
    for said in [
        "- **Evidence**: seed 1, α = 0.05",
        "**Rank 2 (does not pass): if ",
        "<details><summary>Holds in 15 of 20 variants; against the same groups in 18.</summary>\n\n| variant | score |",
        "\n</details>\n",
        "## Hold-out\n",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    assert!(!page.contains(SCRIPT) && !page.contains(IMAGE));
    assert_eq!(page.matches("<details>").count(), 6);
}

#[test]
fn json_holds_all_that_supports_a_finding() {
    let record = record();
    let report = Report::new(&record).unwrap();
    let document: Value =
        serde_json::from_slice(&json::json(&report, &by_score(3)).unwrap()).unwrap();
    assert_eq!(document["evidence"]["gathering"]["seed"], 1);
    assert_eq!(
        document["evidence"]["variants"].as_array().unwrap().len(),
        20
    );
    assert_eq!(
        document["evidence"]["hold_out"]["findings"][0]["tested"]["confirmed"],
        true
    );
    let definition = &document["definitions"][4];
    assert_eq!(definition["evidence"]["family_wise"], 1);
    assert_eq!(definition["evidence"]["false_discovery"], 2);
    let [first, second, third] = [0, 1, 2].map(|n| &definition["findings"][n]["evidence"]);
    assert_eq!(first["test"]["stands"], "family-wise");
    assert_eq!(second["test"]["stands"], "false-discovery");
    assert_eq!(second["test"]["least_score"], Value::Null);
    assert_eq!(third["test"]["stands"], "chance");
    assert_eq!(third["test"]["least_score"], "inf");
    assert_eq!(first["intervals"]["score"]["percentile"]["high"], "inf");
    assert_eq!(first["intervals"]["gap"]["percentile"]["low"], "-inf");
    assert_eq!(first["intervals"]["infinite"], 0.83);
    assert_eq!(first["stability"]["holds"], 15);
    assert_eq!(first["stability"]["variants"][3]["outcome"], Value::Null);
    assert_eq!(second["intervals"], Value::Null);
    let group = &definition["findings"][0]["groups"][0];
    assert_eq!(group["interval"]["percentile"]["low"], 0.125);
    let not_tested = &document["definitions"][6];
    assert_eq!(not_tested["evidence"], Value::Null);
    assert_eq!(not_tested["findings"][0]["evidence"]["test"], Value::Null);
}

fn names(sheet: &Sheet) -> Vec<String> {
    sheet.columns.iter().map(|(name, _)| name.clone()).collect()
}

fn column<'a>(sheet: &'a Sheet, name: &str) -> &'a Cells {
    let mut columns = sheet.columns.iter();
    &columns.find(|(own, _)| own == name).unwrap().1
}

#[test]
fn tables_have_the_p_values_where_there_are_some() {
    let record = record();
    let report = Report::new(&record).unwrap();
    let sheet = sheets::subgroups(&report);
    let (Cells::Number(p), Cells::Flag(passes), Cells::Text(definition), Cells::Count(rank)) = (
        column(&sheet, "p"),
        column(&sheet, "passes"),
        column(&sheet, "definition"),
        column(&sheet, "rank"),
    ) else {
        panic!("columns of other kinds");
    };
    assert_eq!(p[0], Some(0.000_12));
    assert_eq!(passes[..3], [Some(true), Some(false), Some(false)]);
    let Cells::Text(source) = column(&sheet, "source") else {
        panic!("no words");
    };
    assert_eq!(source[..2], ["exact", "shuffles"]);
    let fair = rank.iter().position(Option::is_none).unwrap();
    assert_eq!(passes[fair], Some(false));
    let last = definition
        .iter()
        .position(|d| d == "equal-mean-recourse")
        .unwrap();
    assert_eq!((p[last], passes[last]), (None, None));
    assert_eq!(source[last], "");
    assert_eq!(passes.iter().filter(|p| **p == Some(true)).count(), 6);
    assert!(sheet.batch().is_ok());

    let by_definition = sheets::by_definition(&report, Shows::FamilyWise);
    let Cells::Number(family_wise) = &by_definition.columns[1].1 else {
        panic!("no numbers");
    };
    let least = family_wise.iter().flatten().copied().fold(1.0, f64::min);
    assert_eq!(least, 0.004);

    let intervals = sheets::intervals(&report);
    assert_eq!(intervals.rows(), 6);
    assert_eq!(column(&intervals, "infinite").len(), 6);
    let Cells::Number(bca) = column(&intervals, "score bca low") else {
        panic!("no numbers");
    };
    assert_eq!((bca[0], bca[4]), (Some(0.0625), None));
    let stability = sheets::stability(&report);
    assert_eq!(stability.rows(), 6 * 20);
    let Cells::Flag(holds) = column(&stability, "holds") else {
        panic!("no flags");
    };
    assert_eq!(holds.iter().filter(|h| **h == Some(true)).count(), 6 * 15);
    let hold_out = sheets::hold_out(&report);
    assert_eq!(
        *column(&hold_out, "left"),
        Cells::Number(vec![Some(0.8), None, Some(1.2)])
    );
    let tests = sheets::tests(&report);
    let Cells::Count(passing) = column(&tests, "family_wise") else {
        panic!("no counts");
    };
    assert_eq!(passing[..], [[Some(1); 6].as_slice(), &[None]].concat());
    for sheet in [intervals, stability, hold_out, tests] {
        assert!(sheet.batch().is_ok());
    }
}

#[test]
fn what_is_suppressed_has_no_p_value() {
    let mut record = awkward_record(awkward_audit().suppressed(10));
    // What costs nothing needs no count: subgroups with suppressed ones are ranked by it.
    let for_nothing = "equal-effectiveness-within-budget:micro:0".to_owned();
    record.definitions.insert(0, for_nothing);
    let record = with_evidence(record);
    let report = Report::new(&record).unwrap();
    let sheet = sheets::subgroups(&report);
    let (Cells::Number(score), Cells::Number(p), Cells::Flag(passes)) = (
        column(&sheet, "score"),
        column(&sheet, "p"),
        column(&sheet, "passes"),
    ) else {
        panic!("columns of other kinds");
    };
    let mut showing = by_score(100);
    (showing.filters.all_actions, showing.filters.drop_fair) = (true, false);
    let document: Value = serde_json::from_slice(&json::json(&report, &showing).unwrap()).unwrap();
    let mut intervals = Vec::new();
    for definition in document["definitions"].as_array().unwrap() {
        for finding in definition["findings"].as_array().unwrap() {
            for group in finding["groups"].as_array().unwrap() {
                let actions = group["actions"].as_array().unwrap();
                intervals.extend(
                    actions
                        .iter()
                        .map(|a| (a["flips"].clone(), a["interval"].clone())),
                );
            }
        }
    }
    assert!(intervals.iter().any(|(flips, _)| flips.is_null()));
    for (flips, interval) in intervals {
        assert_eq!(flips.is_null(), interval.is_null());
    }
    let hidden: Vec<usize> = (0..score.len())
        .filter(|&row| score[row].is_none())
        .collect();
    assert!(!hidden.is_empty());
    for row in hidden {
        assert_eq!((p[row], passes[row]), (None, None));
    }
}

#[test]
fn one_subgroup_is_told_in_full() {
    let record = record();
    let report = Report::new(&record).unwrap();
    let column = &report.columns[0];
    let first = &column.ranking.ranked[0];
    let grid = overview::all_definitions(&report, first.subgroup).text(0);
    assert!(
        grid.lines()
            .next()
            .unwrap()
            .ends_with("p  family-wise  passes")
    );
    assert!(grid.contains("0.00012        0.004  yes\n"), "{grid}");
    assert!(grid.contains("not tested\n"), "{grid}");
    let parts = evidence::of_subgroup(&report, first.subgroup);
    let part = &parts[0];
    assert_eq!(part.title, format!("Evidence by {}", column.ranking.title));
    for said in [
        "  Evidence: p = 0.00012 alone",
        "  A & B: ",
        ", 95% interval 6.2% to 25.0% (BCa; percentile 12.5% to 50.0%).\n",
        "  Holds in 15 of 20 variants; against the same groups in 18.\n",
        "not ranked",
    ] {
        assert!(part.text.contains(said), "{said}\n{}", part.text);
    }
}

#[test]
fn a_comparison_tells_whether_a_finding_passes_on_both_sides() {
    let old = awkward_record(awkward_audit());
    let mut new = record();
    let ids = vec!["equal-effectiveness:micro".to_owned()];
    // Nothing moved but what supports it: nothing is told.
    assert!(Diff::new(&old, &new, &ids).unwrap().changed.is_empty());
    // Other members: scores move.
    for subgroup in &mut new.audit.subgroups {
        subgroup.members[1] += 40;
    }
    if let Some(found) = &mut new.evidence {
        found.gathering.alpha = 0.01;
    }
    let text = |old: &Record, new: &Record| {
        let diff = Diff::new(old, new, &ids).unwrap();
        diff.text(100, &Palette::PLAIN)
    };
    let page = text(&old, &new);
    assert!(page.contains("    fair -> "), "{page}");
    assert!(page.contains("(rank 1, does not pass)  ["), "{page}");
    assert!(!page.contains("levels α"));
    let page = text(&record(), &new);
    // The first finding is gone, and nothing was tested.
    let mut without = awkward_record(awkward_audit());
    let report = Report::new(&without).unwrap();
    let first = report.columns[0].ranking.ranked[0].subgroup;
    without.audit.subgroups.remove(first);
    let gone = text(&record(), &without);
    assert!(
        gone.contains("(rank 1, passes) -> not a common subgroup"),
        "{gone}"
    );
    assert!(page.contains("the levels α at which findings pass differ: 0.05 before, 0.01 now"));
}
