//! Splitting a command into words, as a shell would, without a shell.

/// The words of a command: split at blanks, except between quotes.
///
/// Single quotes keep everything; in double quotes a backslash keeps the next `"` or `\`; elsewhere
/// a backslash keeps the next character, except on Windows, where it is a part of paths. Nothing is
/// expanded: no variables, no wildcards, no pipes.
pub(crate) fn split(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(c) => word.push(c),
                        None => return Err("a single quote is not closed".to_owned()),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('\\') => {
                            let kept = chars.next_if(|c| matches!(c, '"' | '\\'));
                            word.push(kept.unwrap_or('\\'));
                        }
                        Some(c) => word.push(c),
                        None => return Err("a double quote is not closed".to_owned()),
                    }
                }
            }
            '\\' if !cfg!(windows) => match chars.next() {
                Some(c) => word.get_or_insert_default().push(c),
                None => return Err("it ends with a backslash".to_owned()),
            },
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Words as a command that [`split`] takes apart again.
pub(crate) fn join(words: &[String]) -> String {
    let quoted = |word: &String| {
        let is_plain = |c: char| !(c.is_whitespace() || "'\"\\".contains(c));
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', r#"'"'"'"#)),
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        let words = |command| split(command).unwrap();
        assert_eq!(words("python predict.py"), ["python", "predict.py"]);
        assert_eq!(words("  a   b "), ["a", "b"]);
        assert_eq!(words("a 'b  c' \"d e\""), ["a", "b  c", "d e"]);
        assert_eq!(words(r#"a"b c"'d e'f"#), ["ab cd ef"]);
        assert_eq!(words(r#""a \"b\" \\ \n""#), [r#"a "b" \ \n"#]);
        assert_eq!(words("a '' b"), ["a", "", "b"]);
        assert_eq!(words(""), Vec::<String>::new());
        assert_eq!(
            words("echo $HOME | cat *"),
            ["echo", "$HOME", "|", "cat", "*"]
        );
        #[cfg(not(windows))]
        assert_eq!(words(r"my\ model.py"), ["my model.py"]);
    }

    #[test]
    fn words_that_are_joined_are_split_again() {
        for words in [&["a", "b c"][..], &["it's", "\"", "", r"\"], &[]] {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(split(&join(&words)).unwrap(), words);
        }
    }

    #[test]
    fn open_quotes_are_told() {
        assert_eq!(split("a 'b").unwrap_err(), "a single quote is not closed");
        assert_eq!(split("a \"b").unwrap_err(), "a double quote is not closed");
    }
}
