//! What is typed after `facts serve`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

use super::WhatArgs;

pub(super) const SERVE_HELP: &str = "\
SUBJECT is one or two folders that `facts audit --out` wrote, or their audit.json.gz; or the table
of an audit to be made now, with the flags of `facts audit`. With --config (and --set) alone, audits
can also be made again under other settings, as what-ifs.

The page is for whoever started the command: it listens on this machine alone, and the address
that is printed has a token in it, without which nothing is answered. With --listen other machines
reach it, over plain HTTP: put a server with TLS before it, or use it in a network that you trust.

Examples:
  facts serve result                       ask a saved audit
  facts serve before after                 two audits side by side
  facts serve --config facts.toml          audit now, and ask what if
  facts serve people.csv --protected sex --model model.onnx --favourable yes
                                           audit a table now
  facts serve result --no-browser          only print the address
  FACTS_PASSWORD=… facts serve result --listen 192.168.0.7 --port 8080";

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// A saved audit, or two to be compared, older first; or the table of an audit to be made now
    pub(crate) subject: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) what: WhatArgs,
    /// Do not open the browser
    #[arg(long, help_heading = "The page")]
    pub(crate) no_browser: bool,
    /// The port, or 0 for any that is free; unless said, always the same for the same audit, where that is
    /// free, so that the browser knows its pins and notes again
    #[arg(long, value_name = "PORT", help_heading = "The page")]
    pub(crate) port: Option<u16>,
    /// Listen on this address instead of 127.0.0.1; needs a password in FACTS_PASSWORD
    #[arg(long, value_name = "ADDRESS", help_heading = "The page")]
    pub(crate) listen: Option<IpAddr>,
}
