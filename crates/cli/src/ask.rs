//! Questions to a person at a terminal.

use std::io::{BufRead, Write};

/// Asks until the answer is one that `check` accepts. Nothing typed, or the end of the input, is no
/// answer.
pub(crate) fn ask(
    question: &str,
    check: impl Fn(&str) -> Result<(), String>,
    mut answers: impl BufRead,
    mut screen: impl Write,
) -> std::io::Result<Option<String>> {
    loop {
        write!(screen, "{question} ")?;
        screen.flush()?;
        let mut answer = String::new();
        answers.read_line(&mut answer)?;
        let answer = answer.trim();
        if answer.is_empty() {
            return Ok(None);
        }
        match check(answer) {
            Ok(()) => return Ok(Some(answer.to_owned())),
            Err(why) => writeln!(screen, "{why}")?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answers: &str) -> (Option<String>, String) {
        let mut screen = Vec::new();
        let check = |answer: &str| match answer {
            "a" | "b" => Ok(()),
            other => Err(format!("{other} is neither a nor b")),
        };
        let answer = ask("Which?", check, answers.as_bytes(), &mut screen).unwrap();
        (answer, String::from_utf8(screen).unwrap())
    }

    #[test]
    fn a_wrong_answer_is_asked_again_and_none_is_none() {
        assert_eq!(asked("b\n"), (Some("b".to_owned()), "Which? ".to_owned()));
        assert_eq!(
            asked("c\n a \n"),
            (
                Some("a".to_owned()),
                "Which? c is neither a nor b\nWhich? ".to_owned()
            )
        );
        assert_eq!(asked("\n").0, None);
        assert_eq!(asked("").0, None);
    }
}
