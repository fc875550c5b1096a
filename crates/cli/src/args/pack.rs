//! What is typed after `facts pack` and `facts verify`.

use std::path::PathBuf;

use clap::Args;

pub(super) const PACK_HELP: &str = "\
One archive to hand over: the audit, every report, the configuration with its rules and waivers, the
baseline, what the gate said, hashes of table and model. A manifest holds the SHA-256 of each.
Counts, no individuals. docs/regulation.md says which demands of law it answers to, and which not.

Examples:
  facts pack result                               writes result.pack.tar, with ./facts.toml
  facts pack result --sign ~/.ssh/id_ed25519      signed by an SSH key
  facts verify result.pack.tar                    what facts pack wrote, and whether it holds";

pub(super) const VERIFY_HELP: &str = "\
Checks that not a bit was changed, works every number out again that follows from the counts, and
judges the gate again. Needs no network.

Examples:
  facts verify result.pack.tar
  facts verify result.pack.tar --signer ana.pub                   and that ana signed it
  facts verify result.pack.tar --data people.csv --model linear:model.json
                                                  makes the audit again, and compares it to the byte

Exit codes: 0 all of it holds, 3 it does not, and the message says what.";

#[derive(Debug, Args)]
pub(crate) struct PackArgs {
    /// A saved audit: its folder or its audit.json.gz
    pub(crate) result: PathBuf,
    /// The configuration that it was made with; facts.toml in this folder unless said
    #[arg(long, short, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Any key of the configuration that was given beside it; repeat for more
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The archive; RESULT.pack.tar unless said
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Sign it with a private key of OpenSSH: Ed25519, without a passphrase
    #[arg(long, value_name = "KEY")]
    pub(crate) sign: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// An archive that `facts pack` wrote
    pub(crate) pack: PathBuf,
    /// The public key of whom it must be signed by
    #[arg(long, value_name = "KEY.pub")]
    pub(crate) signer: Option<PathBuf>,
    /// The table: makes the audit again
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// The model to make it with, such as linear:model.json; none if the audit fits one
    #[arg(long, value_name = "SPEC", requires = "data")]
    pub(crate) model: Option<String>,
}
