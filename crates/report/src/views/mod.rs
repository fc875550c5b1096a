//! What the explorer's views are answered with, for the server of `facts serve` and for the page that holds
//! its own answers: plain data, one file a view. Every number and every sentence is the engine's or the
//! report's; whoever shows them lays them out.

mod curve;
mod overview;
mod places;
mod row;
mod sides;
mod stories;

pub use self::curve::{Curve, CurveGroup};
pub use self::overview::{DefinitionRow, FeatureRow, Overview, alpha, overview, title};
pub use self::places::{Place, Places};
pub use self::row::Row;
pub use self::sides::{Side, Way, sides, variants, verdict};
pub use self::stories::{Cell, Overlap, Stories, Story, stories};
