//! What is typed after `facts serve`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

pub(super) const SERVE_HELP: &str = "\
AUDIT and NEW are folders that `facts audit --out` wrote, or their audit.json.gz.

The page is for whoever started the command: it listens on this machine alone, and the address
that is printed has a token in it, without which nothing is answered. With --listen other machines
reach it, over plain HTTP: put a server with TLS before it, or use it in a network that you trust.

Examples:
  facts serve result                       ask a saved audit
  facts serve before after                 two audits side by side
  facts serve --config facts.toml          audit now, and ask what if
  facts serve result --no-browser          only print the address
  FACTS_PASSWORD=… facts serve result --listen 192.168.0.7 --port 8080";

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The saved audit
    #[arg(required_unless_present = "config", conflicts_with = "config")]
    pub(crate) audit: Option<PathBuf>,
    /// A newer audit, to be compared with it
    pub(crate) new: Option<PathBuf>,
    /// The configuration of an audit to be made now, and again under other settings
    #[arg(long, short, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Any key of the configuration; repeat for more
    #[arg(long, value_name = "KEY=VALUE", requires = "config")]
    pub(crate) set: Vec<String>,
    /// Do not open the browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// The port; any that is free unless said
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// Listen on this address instead of 127.0.0.1; needs a password in FACTS_PASSWORD
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<IpAddr>,
}
