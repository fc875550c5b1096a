//! Protected groups: values of the protected attributes, merged and crossed.

use std::collections::HashMap;

use super::declare::Protected;
use crate::error::Error;

/// The group that each level of one protected attribute belongs to, by name.
pub(crate) fn merged_names(
    attribute: &Protected,
    labels: &[String],
    notices: &mut Vec<String>,
) -> Result<Vec<String>, Error> {
    let mut group_of: HashMap<&str, &str> = HashMap::new();
    for (group, values) in &attribute.merged {
        for value in values {
            if group_of.insert(value, group).is_some() {
                return Err(Error::MappedTwice {
                    attribute: attribute.name.clone(),
                    value: value.clone(),
                });
            }
            if value != "*" && !labels.contains(value) {
                notices.push(format!(
                    "protected attribute `{}`: nobody has the value `{value}`, which is mapped to group `{group}`",
                    attribute.name
                ));
            }
        }
    }
    let rest = group_of.get("*").copied();
    Ok(labels
        .iter()
        .map(|label| {
            let group = group_of.get(label.as_str()).copied().or(rest);
            group.unwrap_or(label).to_owned()
        })
        .collect())
}

/// Numbers the groups in order of name. `names` holds one name a profile.
pub(crate) fn number(names: &[String]) -> (Vec<String>, Vec<u32>) {
    let mut groups: Vec<String> = names.to_vec();
    groups.sort_unstable();
    groups.dedup();
    let number: HashMap<&str, u32> = groups
        .iter()
        .enumerate()
        .map(|(i, name)| (name.as_str(), i as u32))
        .collect();
    let of_profile = names.iter().map(|name| number[name.as_str()]).collect();
    (groups, of_profile)
}
