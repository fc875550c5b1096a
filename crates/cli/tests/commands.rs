//! The commands as a user types them, with what they print. `TRYCMD=overwrite cargo test -p facts-audit
//! --test commands` writes the files in `cmd/` again; read the difference before you commit it.

fn run(cases: &str) {
    trycmd::TestCases::new()
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .env("COLUMNS", "100")
        .env("FACTS_PROGRESS_SECONDS", "0")
        .insert_var("[VERSION]", env!("CARGO_PKG_VERSION"))
        .expect("the name of a variable")
        .case(cases)
        .run();
}

#[test]
fn what_is_typed_and_what_is_printed() {
    run("tests/cmd/*.trycmd");
}

/// Pages of the documentation, whose commands run in a copy of `examples/hiring`.
#[test]
fn what_the_documentation_types() {
    run("tests/docs/*.md");
}
