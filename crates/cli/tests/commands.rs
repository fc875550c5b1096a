//! The commands as a user types them, with what they print. `TRYCMD=overwrite cargo test -p facts
//! --test commands` writes the files in `cmd/` again; read the difference before you commit it.

#[test]
fn what_is_typed_and_what_is_printed() {
    trycmd::TestCases::new()
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .env("COLUMNS", "100")
        .env("FACTS_PROGRESS_SECONDS", "0")
        .insert_var("[VERSION]", env!("CARGO_PKG_VERSION"))
        .expect("the name of a variable")
        .case("tests/cmd/*.trycmd")
        .run();
}
