//! Awkward tables, as strangers bring them, and what the tool makes of each without a configuration: the
//! roles, the notes, what may change, or why it stops. The tables are made here, the same at each run.
//! `CORPUS=overwrite cargo test --workspace --test corpus` writes the files in `corpus/` again; read the
//! difference before you commit it.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// One table and what is asked about it.
struct Case {
    name: &'static str,
    table: Vec<u8>,
    commands: &'static [&'static [&'static str]],
}

/// Numbers that look drawn by lot, the same at each run.
struct Lot(u64);

impl Lot {
    /// A number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len() as u64) as usize]
    }

    /// True in so many of 100 cases.
    fn percent(&mut self, n: u64) -> bool {
        self.below(100) < n
    }
}

/// A CSV file of rows made by lot; each gets its number too.
fn table(head: &str, rows: usize, mut row: impl FnMut(&mut Lot, usize) -> String) -> Vec<u8> {
    let mut lot = Lot(7);
    let mut text = format!("{head}\n");
    for i in 0..rows {
        let _ = writeln!(text, "{}", row(&mut lot, i));
    }
    text.into_bytes()
}

const DRY: &[&str] = &["audit", "TABLE", "--protected", "sex", "--dry-run"];
const INIT: &[&str] = &["init", "TABLE", "-o", "-"];

fn case(name: &'static str, table: Vec<u8>) -> Case {
    Case {
        name,
        table,
        commands: &[DRY],
    }
}

fn init(name: &'static str, table: Vec<u8>) -> Case {
    Case {
        name,
        table,
        commands: &[INIT],
    }
}

fn cases() -> Vec<Case> {
    let sex = |lot: &mut Lot| lot.pick(&["f", "m"]);
    let bit = |yes: bool| u8::from(yes);
    vec![
        // 1 is the bad outcome, and nothing in the table says so.
        init(
            "outcome-1-is-bad",
            table(
                "sex,limit,months_late,default payment next month",
                300,
                |lot, _| {
                    let late = lot.below(6);
                    let default = lot.percent(10 + 12 * late);
                    format!(
                        "{},{},{late},{}",
                        sex(lot),
                        1000 * (1 + lot.below(80)),
                        bit(default)
                    )
                },
            ),
        ),
        // 0.0 is the bad outcome, and the label is a float.
        init(
            "outcome-0.0-is-bad",
            table("sex,lsat,fulltime,pass_bar", 300, |lot, _| {
                let lsat = lot.below(48);
                let passes = lot.percent(50 + lsat);
                format!(
                    "{},{lsat},{},{}.0",
                    sex(lot),
                    lot.pick(&["yes", "no"]),
                    bit(passes)
                )
            }),
        ),
        // `default` is a feature here, and the last column, `y`, the outcome.
        init(
            "default-is-a-feature",
            table("sex,age,default,poutcome,previous,y", 300, |lot, _| {
                format!(
                    "{},{},{},{},{},{}",
                    sex(lot),
                    18 + lot.below(60),
                    lot.pick(&["no", "no", "yes"]),
                    lot.pick(&["unknown", "failure", "success"]),
                    lot.below(5),
                    lot.pick(&["no", "no", "yes"])
                )
            }),
        ),
        Case {
            name: "special-codes",
            table: table(
                "sex,trades,months_open,delay,dist,score,good",
                300,
                |lot, _| {
                    let special = ["-9", "-8", "-7"];
                    let trades = if lot.percent(8) {
                        lot.pick(&special).to_owned()
                    } else {
                        lot.below(60).to_string()
                    };
                    let open = if lot.percent(20) {
                        "-1".to_owned()
                    } else {
                        lot.below(90).to_string()
                    };
                    let dist = if lot.percent(5) { 999 } else { lot.below(40) };
                    format!(
                        "{},{trades},{open},{},{dist},{},{}",
                        sex(lot),
                        lot.below(8) as i64 - 2,
                        lot.below(100),
                        lot.pick(&["bad", "good"])
                    )
                },
            ),
            commands: &[
                INIT,
                &[
                    "audit",
                    "TABLE",
                    "--protected",
                    "sex",
                    "--missing-code",
                    "-9",
                    "--dry-run",
                ],
            ],
        },
        case(
            "unknown-everywhere",
            table("sex,job,education,contact,housing,y", 300, |lot, _| {
                let one = |lot: &mut Lot, values: &[&'static str]| {
                    if lot.percent(35) {
                        "unknown"
                    } else {
                        lot.pick(values)
                    }
                };
                format!(
                    "{},{},{},{},{},{}",
                    sex(lot),
                    one(lot, &["clerk", "cook"]),
                    one(lot, &["primary", "tertiary"]),
                    one(lot, &["phone", "mail"]),
                    one(lot, &["own", "rent"]),
                    lot.pick(&["no", "yes"])
                )
            }),
        ),
        case(
            "ids",
            table("id_student,row,code,sex,credits,passed", 300, |lot, i| {
                format!(
                    "{},{i},u{:05},{},{},{}",
                    6000 + 97 * lot.below(20_000),
                    90_000 - 7 * i,
                    sex(lot),
                    30 * (1 + lot.below(4)),
                    lot.pick(&["no", "yes"])
                )
            }),
        ),
        case(
            "leaks",
            table(
                "sex,hours,final_grade,status,points,label",
                300,
                |lot, i| {
                    let grade = lot.below(21);
                    let passes = grade >= 10;
                    format!(
                        "{},{},{grade},{},{}.5,{}",
                        sex(lot),
                        lot.below(40),
                        if passes { "through" } else { "out" },
                        1000 * usize::from(passes) + i,
                        if passes { "yes" } else { "no" }
                    )
                },
            ),
        ),
        {
            let names: Vec<String> = (0..120).map(|i| format!("v{i}")).collect();
            case(
                "120-numbers",
                table(&format!("sex,{},target", names.join(",")), 60, |lot, _| {
                    let numbers: Vec<String> = (0..120)
                        .map(|_| format!("0.{}", lot.below(90) + 10))
                        .collect();
                    format!(
                        "{},{},{}",
                        sex(lot),
                        numbers.join(","),
                        bit(lot.percent(40))
                    )
                }),
            )
        },
        init(
            "nearly-the-outcome",
            table(
                "sex,education,education-num,is_recid,two_year_recid",
                300,
                |lot, _| {
                    let school = lot.below(4);
                    let again = lot.percent(45);
                    let recid = again || lot.percent(5);
                    let named = ["none", "school", "college", "degree"][school as usize];
                    format!(
                        "{},{named},{school},{},{}",
                        sex(lot),
                        bit(recid),
                        bit(again)
                    )
                },
            ),
        ),
        Case {
            name: "many-groups",
            table: table("country,points,y", 600, |lot, _| {
                format!(
                    "C{},{},{}",
                    lot.below(14),
                    lot.below(9),
                    bit(lot.percent(50))
                )
            }),
            commands: &[&["audit", "TABLE", "--protected", "country", "--dry-run"]],
        },
        Case {
            name: "three-row-groups",
            table: table("race,position,score,promoted", 118, |lot, i| {
                let race = if i < 3 {
                    "H"
                } else if i < 50 {
                    "B"
                } else {
                    "W"
                };
                format!(
                    "{race},{},{},{}",
                    lot.pick(&["captain", "lieutenant"]),
                    40 + lot.below(50),
                    bit(lot.percent(50))
                )
            }),
            commands: &[&["audit", "TABLE", "--protected", "race", "--dry-run"]],
        },
        init(
            "integers-as-categories",
            table(
                "sex,household_position,economic_status,rooms,occupation",
                600,
                |lot, _| {
                    let codes = [1110, 1121, 1122, 1131, 1132, 1210, 1220];
                    let (at, status, rooms) = (lot.below(7) as usize, lot.below(4), lot.below(6));
                    let high =
                        lot.percent([75, 8, 70, 10, 65, 5, 60][at]) || lot.percent(5 * rooms);
                    format!(
                        "{},{},{},{rooms},{}",
                        sex(lot),
                        codes[at],
                        [111, 112, 120, 131][status as usize],
                        bit(high)
                    )
                },
            ),
        ),
        case(
            "dates",
            table("sex,screened,born,until,points,y", 200, |lot, _| {
                let day =
                    |lot: &mut Lot| (1 + lot.below(28), 1 + lot.below(12), 1960 + lot.below(60));
                let ((d, m, y), (d2, m2, y2), (d3, m3, y3)) = (day(lot), day(lot), day(lot));
                format!(
                    "{},{y}-{m:02}-{d:02} 10:05:00,{d2:02}.{m2:02}.{y2},{m3}/{d3}/{y3},{},{}",
                    sex(lot),
                    lot.below(9),
                    bit(lot.percent(50))
                )
            }),
        ),
        case(
            "free-text",
            table("sex,letter,name,town,y", 200, |lot, i| {
                let words: Vec<&str> = (0..12)
                    .map(|_| lot.pick(&["house", "work", "family", "money", "please"]))
                    .collect();
                format!(
                    "{},{},Person {i},T{},{}",
                    sex(lot),
                    words.join(" "),
                    lot.below(5),
                    bit(lot.percent(50))
                )
            }),
        ),
        Case {
            name: "latin-1",
            table: table("geschlecht,straße,einkommen,ergebnis", 200, |lot, _| {
                format!(
                    "{},{},{},{}",
                    lot.pick(&["männlich", "weiblich"]),
                    lot.pick(&["Köln", "Bonn"]),
                    900 + 10 * lot.below(300),
                    lot.pick(&["ja", "nein"])
                )
            })
            .iter()
            .fold((Vec::new(), None::<u8>), |(mut out, lead), &byte| {
                match (lead, byte) {
                    // Two bytes of UTF-8 are one of Latin-1 here.
                    (None, 0xC3 | 0xC2) => (out, Some(byte)),
                    (Some(lead), byte) => {
                        out.push(((lead & 3) << 6) | (byte & 0x3F));
                        (out, None)
                    }
                    (None, byte) => {
                        out.push(byte);
                        (out, None)
                    }
                }
            })
            .0,
            commands: &[
                &["init", "TABLE", "-o", "-"],
                &["init", "TABLE", "-o", "-", "--encoding", "latin1"],
            ],
        },
        init(
            "foreign-names",
            table(
                "geslacht,leeftijd,burgerlijke_staat,opleiding,inkomen,resultaat",
                200,
                |lot, _| {
                    format!(
                        "{},{},{},{},{},{}",
                        lot.pick(&["man", "vrouw"]),
                        18 + lot.below(50),
                        lot.pick(&["gehuwd", "alleen"]),
                        lot.below(5),
                        900 + lot.below(3000),
                        lot.pick(&["ja", "nee"])
                    )
                },
            ),
        ),
        case(
            "nothing-in-it",
            table("sex,empty,same,mostly,points,y", 200, |lot, i| {
                format!(
                    "{},,X,{},{},{}",
                    sex(lot),
                    if i % 4 == 0 { "a" } else { "" },
                    lot.below(9),
                    bit(lot.percent(50))
                )
            }),
        ),
        case(
            "two-columns-of-one-name",
            table("sex,points,points,y", 40, |lot, _| {
                format!(
                    "{},{},{},{}",
                    sex(lot),
                    lot.below(9),
                    lot.below(9),
                    bit(lot.percent(50))
                )
            }),
        ),
        Case {
            name: "weights",
            table: table(
                "sex,fnlwgt,people,hours-per-week,capital-loss,income",
                200,
                |lot, _| {
                    format!(
                        "{},{},{},{},{},{}",
                        sex(lot),
                        10_000 + lot.below(90_000),
                        1 + lot.below(3),
                        20 + lot.below(40),
                        if lot.percent(5) { 1500 } else { 0 },
                        lot.pick(&["<=50K", ">50K"])
                    )
                },
            ),
            commands: &[
                DRY,
                &[
                    "audit",
                    "TABLE",
                    "--protected",
                    "sex",
                    "--weight-column",
                    "people",
                    "--dry-run",
                ],
            ],
        },
        case(
            "much-is-missing",
            table("sex,points,age,y", 200, |lot, i| {
                let sex = if i % 10 == 0 { "" } else { sex(lot) };
                let points = if lot.percent(30) {
                    String::new()
                } else {
                    lot.below(30).to_string()
                };
                format!(
                    "{sex},{points},{},{}",
                    20 + lot.below(40),
                    bit(lot.percent(50))
                )
            }),
        ),
    ]
}

/// What a command prints, with how it ends.
fn told(folder: &Path, command: &[&str]) -> String {
    let arguments = command
        .iter()
        .map(|part| if *part == "TABLE" { "table.csv" } else { part });
    let arguments: Vec<&str> = arguments.collect();
    let made = Command::new(env!("CARGO_BIN_EXE_facts"))
        .args(&arguments)
        .current_dir(folder)
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    let end = match made.status.code() {
        Some(0) => String::new(),
        code => format!("exit {}\n", code.unwrap()),
    };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    format!(
        "$ facts {}\n{}{}{end}\n",
        arguments.join(" "),
        text(&made.stdout),
        text(&made.stderr)
    )
}

#[test]
fn what_is_made_of_awkward_tables() {
    let overwrite = std::env::var("CORPUS").is_ok_and(|value| value == "overwrite");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut wrong = Vec::new();
    for case in cases() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("table.csv"), &case.table).unwrap();
        let told: String = case
            .commands
            .iter()
            .map(|command| told(place.path(), command))
            .collect();
        let golden = folder.join(format!("{}.txt", case.name));
        if overwrite {
            std::fs::write(&golden, &told).unwrap();
        }
        if std::fs::read_to_string(&golden).ok().as_ref() != Some(&told) {
            wrong.push(format!("{}:\n{told}", case.name));
        }
    }
    assert!(wrong.is_empty(), "not as in corpus/:\n{}", wrong.join("\n"));
}
