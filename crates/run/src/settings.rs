//! How settings are called.

/// A message in which each setting is called as in `names` instead of by its key in a configuration:
/// `` `audit.support` `` becomes `--support` on the command line.
pub fn call_settings(message: &str, names: &[(&str, &str)]) -> String {
    let mut called = String::with_capacity(message.len());
    let mut rest = message;
    while let Some((before, after)) = rest.split_once('`') {
        let known = after.split_once('`').and_then(|(key, after)| {
            let (_, name) = names.iter().find(|(known, _)| *known == key)?;
            Some((*name, after))
        });
        called += before;
        let (said, after) = known.unwrap_or(("`", after));
        called += said;
        rest = after;
    }
    called + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_keys_in_backticks_are_called_otherwise() {
        let call = |message| call_settings(message, &[("audit.support", "--support")]);
        for (message, called) in [
            ("lower `audit.support`, or not", "lower --support, or not"),
            ("`audit.support`", "--support"),
            ("``audit.support``", "`--support`"),
            ("audit.support is 3", "audit.support is 3"),
            (
                "column `a` and `audit.support",
                "column `a` and `audit.support",
            ),
            ("", ""),
        ] {
            assert_eq!(call(message), called);
        }
    }
}
