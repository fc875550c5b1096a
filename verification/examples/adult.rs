//! Audits a logistic regression on the Adult census data: is the way out of "earns at most 50K" as
//! open to women as to men?
//!
//! `cargo run --release --example adult [SUPPORT] [THREADS]`
#![allow(clippy::print_stdout)]
use std::time::Instant;

use facts_engine::{Options, Watch, audit};

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let support = std::env::args().nth(1).unwrap_or("0.01".into());
    let threads = std::env::args().nth(2).unwrap_or("2".into()).parse()?;
    let rows = facts_verification::adult_rows()?;
    let model = facts_verification::adult_model()?;
    for _ in 0..5 {
        let start = Instant::now();
        let population = facts_verification::adult_declaration().read(&rows)?;
        let read = start.elapsed();
        let last = std::sync::Mutex::new((Instant::now(), None, Vec::new()));
        let tell = |p: facts_engine::Progress| {
            let mut last = last.lock().unwrap();
            if last.1 != Some(p.phase) {
                let now = Instant::now();
                let d = now - last.0;
                let ph = last.1;
                last.2.push((ph, d));
                last.0 = now;
                last.1 = Some(p.phase);
            }
            std::ops::ControlFlow::Continue(())
        };
        let options = Options::new().support(support.parse()?).threads(threads);
        let audit = audit(&population, &model, &options, Watch::new(&tell))?;
        let done = start.elapsed();
        let columns = audit.paper_columns()?;
        let rankings = audit.rank_all(&columns);
        println!(
            "{:?} read {read:?} audit {done:?} ranked {:?}",
            audit.sizes,
            start.elapsed()
        );
        println!("{:?}", last.lock().unwrap().2);
        println!("{:?} {}", rankings.len(), audit.subgroups.len());
    }
    Ok(())
}
