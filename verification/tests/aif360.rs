//! AIF360's FACTS, from PyPI, side by side with the engine: every subgroup, action, effectiveness
//! and cost of Adult at 10 % support. `peers/compare_aif360.py` names each known difference and
//! asserts that it is exactly that.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::Command;

use facts_engine::subgroups::Predicate;
use facts_engine::{Audit, Options, Watch, audit};
use facts_verification::peers;
use serde_json::{Value, json};

/// The audit as the comparison reads it.
fn dump(audit: &Audit) -> Value {
    let label = |feature: u32, level: u32| {
        let feature = &audit.features[feature as usize];
        json!([feature.name, feature.label(level)])
    };
    let items = |predicate: &Predicate| -> Vec<Value> {
        predicate
            .items()
            .iter()
            .map(|item| label(item.feature, item.level))
            .collect()
    };
    let with = audit.subgroups.iter().map(|subgroup| {
        let actions = (0..subgroup.actions.len()).map(|action| {
            let change = subgroup.change(action, &audit.changes);
            let change = change
                .assignments()
                .iter()
                .map(|a| label(a.feature, a.level));
            let flips = (0..subgroup.groups()).map(|g| subgroup.flips(action, g).known());
            json!({
                "change": change.collect::<Vec<_>>(),
                "cost": subgroup.actions[action].cost,
                "flips": flips.collect::<Vec<_>>(),
            })
        });
        json!({
            "items": items(&subgroup.predicate),
            "members": subgroup.members,
            "actions": actions.collect::<Vec<_>>(),
        })
    });
    let without = audit.without_actions.iter().map(|subgroup| {
        json!({"items": items(&subgroup.predicate), "members": subgroup.members, "actions": []})
    });
    json!({
        "groups": audit.groups.iter().map(|g| &g.name).collect::<Vec<_>>(),
        "members_of_groups": audit.groups.iter().map(|g| g.affected).collect::<Vec<_>>(),
        "subgroups": with.chain(without).collect::<Vec<_>>(),
    })
}

fn run(python: &Path, script: &str, arguments: &[&Path]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(python)
        .arg(root.join("peers").join(script))
        .args(arguments)
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    println!("{out}");
    assert!(
        output.status.success(),
        "{script}: {}\n{out}\n{err}",
        output.status
    );
}

#[test]
fn aif360_finds_the_same() {
    let Some(python) = peers::python() else {
        return;
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (theirs, ours) = (folder.join("aif360.json"), folder.join("engine.json"));
    let options = Options::new().support("0.1".parse().unwrap());
    let population = facts_verification::adult_population().unwrap();
    let model = facts_verification::adult_model().unwrap();
    let audit = audit(&population, &model, &options, Watch::nobody()).unwrap();
    std::fs::write(&ours, serde_json::to_vec(&dump(&audit)).unwrap()).unwrap();

    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/adult-sex");
    run(&python, "aif360_facts.py", &[&data, &theirs]);
    run(&python, "compare_aif360.py", &[&theirs, &ours]);
}
