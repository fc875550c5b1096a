//! The manifest: what is in a pack, and what it was made from.

use facts_report::{ModelOrigin, Origin};
use serde::{Deserialize, Serialize};

/// What a manifest calls itself.
pub(super) const KIND: &str = "facts-pack";

/// The version of the form of a pack.
pub(super) const VERSION: u32 = 1;

/// What is in a pack, and what it was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Manifest {
    pub(super) kind: String,
    pub(super) version: u32,
    /// The tool that packed it, whose reports they are.
    pub tool: String,
    /// When it was packed, in UTC.
    pub packed: String,
    /// The tool that made the audit, and when.
    pub audited_by: String,
    /// When the audit was made, in UTC.
    pub audited: String,
    /// The table.
    pub data: Origin,
    /// The model.
    pub model: ModelOrigin,
    /// The machine that packed it.
    pub environment: Environment,
    /// How many findings of each definition the reports show.
    pub top: usize,
    /// Settings that were given beside the configuration.
    pub settings: Vec<String>,
    /// The gate, if there is a configuration.
    pub gate: Option<GateOf>,
    /// The files, in the order in which they lie in the archive.
    pub files: Vec<File>,
}

/// A machine, as far as results could depend on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// `linux`, `macos`, `windows`.
    pub system: String,
    /// `x86_64`, `aarch64`.
    pub architecture: String,
}

impl Environment {
    pub(super) fn here() -> Self {
        Self {
            system: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
        }
    }
}

/// What the gate was judged by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateOf {
    /// The day by which waivers were judged.
    pub today: String,
    /// Whether it passed.
    pub passed: bool,
    /// What the configuration and the audit were called.
    pub config: String,
    /// What was checked.
    pub audit: String,
}

/// A file of a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Where it lies in the archive.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

impl Manifest {
    /// Reads a manifest.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Kind {
            kind: Option<String>,
            version: Option<u32>,
        }
        let refuse = |error: serde_json::Error| format!("the manifest cannot be read: {error}");
        let found: Kind = serde_json::from_slice(bytes).map_err(refuse)?;
        match (found.kind.as_deref(), found.version) {
            (Some(KIND), Some(VERSION)) => serde_json::from_slice(bytes).map_err(refuse),
            (Some(KIND), Some(version)) => Err(format!(
                "the pack is of version {version}, and this tool reads version {VERSION}; use the tool that packed it"
            )),
            _ => Err("this is not a pack".to_owned()),
        }
    }
}
