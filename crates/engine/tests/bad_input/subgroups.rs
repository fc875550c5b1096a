//! More subgroups or pairs than there is room for: the support that is advised fits.

use facts_engine::actions::Validity;
use facts_engine::{Error, Options, Watch};
use proptest::prelude::*;

use super::{audit_crowd, config, crowd};

proptest! {
    #![proptest_config(config(150))]

    /// With the support that the error advises, the audit goes through.
    #[test]
    fn the_support_that_is_advised_for_subgroups_fits(
        rows in 40..160_usize,
        seed in any::<u64>(),
        limit in 1..200_usize,
        subset in any::<bool>(),
    ) {
        let table = crowd(rows, seed);
        let validity = if subset { Validity::Subset } else { Validity::Joint };
        let options = Options::new().validity(validity).max_subgroups(limit);
        match audit_crowd(&table, &options, Watch::nobody()) {
            Ok(found) => {
                prop_assert!(found.sizes.common_subgroups.max(found.sizes.action_itemsets) <= limit);
            }
            Err(Error::TooFewGroups { .. }) => {}
            Err(error) => {
                let Error::TooManyItemsets { what, found, limit: told, fits, .. } = error.clone() else {
                    return Err(TestCaseError::fail(error.to_string()));
                };
                prop_assert!(found > limit && told == limit);
                let advice = match &fits {
                    Some(support) => format!("a support of {support} was tried and fits"),
                    None => "raise the limit, allow fewer items a predicate, or use fewer features or wider bins".to_owned(),
                };
                prop_assert_eq!(
                    error.to_string(),
                    format!("support 0.01 gives too many {what}: {found} were found before stopping, the limit is {limit}; {advice}")
                );
                if let Some(support) = fits {
                    let again = options.support(support.try_into().unwrap());
                    let again = audit_crowd(&table, &again, Watch::nobody());
                    prop_assert!(again.is_ok(), "{:?} after {}", again, error);
                }
            }
        }
    }

    /// The same for memory.
    #[test]
    fn the_support_that_is_advised_for_memory_fits(
        rows in 40..160_usize,
        seed in any::<u64>(),
        limit in 1_000..400_000_u64,
        subset in any::<bool>(),
    ) {
        let table = crowd(rows, seed);
        let validity = if subset { Validity::Subset } else { Validity::Joint };
        let options = Options::new().validity(validity).max_memory(limit);
        match audit_crowd(&table, &options, Watch::nobody()) {
            // A crowd may happen to have nobody affected in a group.
            Ok(_) | Err(Error::TooManyRows { .. } | Error::TooFewGroups { .. }) => {}
            Err(error @ Error::ItemsetsTooLarge { .. }) => {
                let Error::ItemsetsTooLarge { what, found, needed_mib, fits, .. } = error.clone() else {
                    return Err(TestCaseError::fail(error.to_string()));
                };
                let advice = match &fits {
                    Some(support) => format!("a support of {support} was tried and fits"),
                    None => "raise the limit, allow fewer items a predicate, or use fewer features or wider bins".to_owned(),
                };
                prop_assert_eq!(
                    error.to_string(),
                    format!("support 0.01 gives more {what} than fit into memory: {found} were found, which need about {needed_mib} MiB; the limit is {} MiB; {advice}", limit >> 20)
                );
            }
            Err(error) => {
                let Error::TooMuchMemory { pairs, subgroups, itemsets, needed_mib, fits, .. } = error.clone() else {
                    return Err(TestCaseError::fail(error.to_string()));
                };
                let advice = match &fits {
                    Some(support) => format!("a support of {support} was tried and fits"),
                    None => "raise the limit, allow fewer items a predicate, or use fewer features or wider bins".to_owned(),
                };
                prop_assert_eq!(
                    error.to_string(),
                    format!("support 0.01 gives {subgroups} subgroups and {itemsets} action itemsets, and {pairs} pairs of the two were found before stopping, which need about {needed_mib} MiB; the limit is {} MiB; {advice}", limit >> 20)
                );
                if let Some(support) = fits {
                    let again = options.support(support.try_into().unwrap());
                    let again = audit_crowd(&table, &again, Watch::nobody());
                    prop_assert!(
                        !matches!(again, Err(Error::TooMuchMemory { .. })),
                        "{:?} after {}", again, error
                    );
                }
            }
        }
    }
}
