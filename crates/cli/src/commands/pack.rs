//! `facts pack` and `facts verify`: an audit to hand over, and whether it holds.

use std::path::PathBuf;
use std::process::ExitCode;

use facts_report::text::visible;
use facts_run::pack::{self, Packing, Redo, Verified};
use facts_run::{Failure, Listener, files};

use crate::args::{PackArgs, VerifyArgs};
use crate::output;
use crate::progress::Reporter;

pub(crate) fn pack(args: PackArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    let local = PathBuf::from("facts.toml");
    let config = args.config.or_else(|| local.is_file().then_some(local));
    let out = args.out.unwrap_or_else(|| {
        let name = args
            .result
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        PathBuf::from(format!("{name}.pack.tar"))
    });
    let packing = Packing {
        result: &args.result,
        config: config.as_deref(),
        settings: &args.set,
        key: args.sign.as_deref(),
    };
    let (manifest, bytes) = pack::pack(&packing, reporter)?;
    files::write(&out, &bytes, reporter)?;
    reporter.clear();
    let config = match &packing.config {
        Some(path) => format!("with {}", path.display()),
        None => {
            "without a configuration, so that the audit cannot be made again from it".to_owned()
        }
    };
    let signed = match &packing.key {
        Some(key) => format!("signed with {}", key.display()),
        None => "not signed".to_owned(),
    };
    output::print(&format!(
        "Wrote {}: {} files, {config}, {signed}.\nNext: facts verify {}\n",
        visible(&out.display().to_string()),
        manifest.files.len(),
        visible(&out.display().to_string())
    ))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn verify(args: VerifyArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    let name = args.pack.display();
    let bytes = pack::read(&args.pack)?;
    let redo = args.data.as_deref().map(|data| Redo {
        data,
        model: args.model.as_deref(),
    });
    let verified = pack::verify(&bytes, args.signer.as_deref(), redo, reporter)
        .map_err(|failure| failure.with(format!("{name} is refused")))?;
    reporter.clear();
    output::print(&told(&verified))?;
    Ok(ExitCode::SUCCESS)
}

/// What holds, and what was not looked at.
fn told(verified: &Verified) -> String {
    let manifest = &verified.manifest;
    let hash = |sha256: &Option<String>| {
        let known = sha256.as_deref().map(|hash| hash.get(..12).unwrap_or(hash));
        known.map_or_else(String::new, |hash| format!(" (SHA-256 {hash}…)"))
    };
    let mut text = format!(
        "VERIFIED: an audit of {}{} and {}{}, made on {} by {}.\n",
        visible(&manifest.data.name),
        hash(&manifest.data.sha256),
        visible(&manifest.model.spec),
        hash(&manifest.model.sha256),
        visible(manifest.audited.get(..10).unwrap_or("an unknown day")),
        visible(&manifest.audited_by),
    );
    for line in &verified.holds {
        text += &format!("  holds        {}\n", visible(line));
    }
    for line in &verified.not_checked {
        text += &format!("  not checked  {}\n", visible(line));
    }
    text
}
