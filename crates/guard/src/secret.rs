//! What nobody is to see of a text that is shown: a message, a record, a report.
//!
//! A secret is known by where it stands: in front of the host of a URL or among its parameters, or after a
//! name such as `password`, with `=`, `:` or a quotation mark in between, or a blank if the name is an option of a
//! command (`--token x`). Rather too much is hidden than too little: whoever needs the text as it was has it.

use std::ops::Range;

/// What stands in the place of a secret.
pub const HIDDEN: &str = "***";

/// Parts of the names of secrets.
const NAMES: [&str; 11] = [
    "passw",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "signature",
    "authorization",
    "bearer",
];

/// Words with such a part that are no names of secrets.
const OTHERS: [&str; 9] = [
    "tokeniz",
    "tokenis",
    "max-token",
    "max_token",
    "keyword",
    "keyboard",
    "monkey",
    "turkey",
    "secretar",
];

/// Ends of such names, which are parts of many other words.
const ENDS: [&str; 3] = ["pass", "sig", "auth"];

/// Ends of names that say where a secret, or a key of a table, is to be found.
const PLACES: [&str; 6] = ["file", "path", "folder", "dir", "column", "columns"];

/// Whether a thing of this name is a secret.
pub fn is_name(name: &str) -> bool {
    let mut name = name.to_lowercase();
    for other in OTHERS {
        name = name.replace(other, "");
    }
    let mut words = name.rsplit(|c: char| !c.is_alphanumeric());
    let last = words.next().unwrap_or_default();
    let says_where = words.next().is_some() && PLACES.contains(&last);
    let is_one = NAMES.iter().any(|part| name.contains(part))
        || ENDS.contains(&last)
        || name.ends_with("pass");
    is_one && !says_where
}

/// A text without what may be secret in it.
pub fn hidden(text: &str) -> String {
    without_places(text, places(text))
}

/// A text without what may be secret in the URLs in it. Names say nothing here: for text in which `key: value` is
/// no secret, such as messages and paths.
pub fn hidden_in_urls(text: &str) -> String {
    without_places(text, apart(in_urls(text)))
}

/// What is hidden of a text.
pub fn secrets(text: &str) -> Vec<&str> {
    places(text).into_iter().map(|at| &text[at]).collect()
}

/// The words of a command without what may be secret in them: of each word what [`hidden`] hides, all that follows
/// the name of a secret and `=`, and the whole word after an option of such a name.
pub fn hidden_words(words: &[String]) -> Vec<String> {
    let places = in_words(words).into_iter();
    let both = words.iter().zip(places);
    both.map(|(word, places)| without_places(word, places))
        .collect()
}

/// What is hidden of the words of a command.
pub fn secrets_of_words(words: &[String]) -> Vec<&str> {
    let places = in_words(words).into_iter();
    let both = words.iter().zip(places);
    both.flat_map(|(word, places)| places.into_iter().map(|at| &word[at]))
        .collect()
}

/// A text of somebody else's without secrets that are known.
pub fn without(text: &str, secrets: &[impl AsRef<str>]) -> String {
    let mut secrets: Vec<&str> = secrets.iter().map(AsRef::as_ref).collect();
    secrets.retain(|secret| !secret.is_empty());
    // The longest first: a shorter one may be a part of it.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    let hide = |text: String, secret: &str| text.replace(secret, HIDDEN);
    secrets.into_iter().fold(text.to_owned(), hide)
}

/// A text with something else in these places, which are in order and apart.
fn without_places(text: &str, places: Vec<Range<usize>>) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for secret in places {
        shown += &text[at..secret.start];
        shown += HIDDEN;
        at = secret.end;
    }
    shown + &text[at..]
}

/// The parts of a URL, as they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Url<'a> {
    /// What stands before `://`.
    pub scheme: &'a str,
    /// `user:password`, in front of the host.
    pub user: Option<&'a str>,
    /// The host with its port, or the bucket.
    pub host: &'a str,
    /// What follows the host, from its slash.
    pub path: &'a str,
    /// What follows a question mark or, of a web address, `#`.
    pub parameters: Option<&'a str>,
}

impl<'a> Url<'a> {
    /// The URL that a text is, if it is one.
    pub fn of(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let is_web = ["http", "https"]
            .iter()
            .any(|web| scheme.eq_ignore_ascii_case(web));
        let (path, parameters) = split_parameters(rest, is_web);
        Some(Self {
            scheme,
            user,
            host,
            path,
            parameters,
        })
    }
}

/// What follows a question mark. In names of objects it may stand for any character; it begins
/// parameters where an `=` follows in the same piece.
fn split_parameters(text: &str, is_web: bool) -> (&str, Option<&str>) {
    let begin = match is_web {
        true => text.find(['?', '#']),
        false => text.find('?').filter(|&at| {
            let piece = text[at..].split('/').next();
            piece.is_some_and(|piece| piece.contains('='))
        }),
    };
    match begin {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// Where secrets are, in order and apart.
fn places(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = in_urls(text);
    found.extend(after_names(text));
    apart(found)
}

/// The same places in order and apart.
fn apart(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.retain(|place| !place.is_empty());
    found.sort_by_key(|place| place.start);
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for place in found {
        match apart.last_mut().filter(|last| place.start <= last.end) {
            Some(last) => last.end = last.end.max(place.end),
            None => apart.push(place),
        }
    }
    apart
}

/// Where secrets are in the words of a command.
fn in_words(words: &[String]) -> Vec<Vec<Range<usize>>> {
    let is_plain = |name: &str| !name.is_empty() && name.chars().all(of_a_name);
    let mut is_awaited = false;
    let mut found = Vec::with_capacity(words.len());
    for word in words {
        // What follows may be another option: then the first was a switch.
        let is_value = std::mem::take(&mut is_awaited) && !word.starts_with("--");
        let value = match word.split_once('=') {
            _ if is_value => Some(0..word.len()),
            Some((name, _)) if is_plain(name) && is_name(name) => Some(name.len() + 1..word.len()),
            None => {
                is_awaited = word.starts_with('-') && is_plain(word) && is_name(word);
                None
            }
            Some(_) => None,
        };
        found.push(value.map_or_else(|| places(word), |value| apart(vec![value])));
    }
    found
}

/// What stands in front of hosts, among parameters, and in the place of a port without being a number.
fn in_urls(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (colon, _) in text.match_indices("://") {
        let of_a_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
        let scheme = text[..colon].trim_end_matches(of_a_scheme).len();
        let url = &text[scheme..];
        let url = &url[..end_of_url(url, text[..scheme].chars().next_back())];
        let Some(parts) = Url::of(url) else { continue };
        let place = |part: &str| {
            // A part of the text, by where it lies in it.
            let start = part.as_ptr() as usize - text.as_ptr() as usize;
            start..start + part.len()
        };
        found.extend(parts.parameters.map(place));
        let rest = &url[parts.scheme.len() + 3..];
        // A password that was not escaped may hold what ends a host.
        let port = parts.host.rsplit_once(':').map(|(_, port)| port);
        let is_odd = port.is_some_and(|port| {
            // `http://host:port/` stands in messages that say what can be written.
            let is_any = port.eq_ignore_ascii_case("port");
            !is_any && !port.ends_with(']') && !port.bytes().all(|byte| byte.is_ascii_digit())
        });
        match (parts.user, is_odd.then(|| rest.rsplit_once('@')), port) {
            (Some(user), None, _) => found.push(place(user)),
            (_, Some(Some((user, _))), _) => found.push(place(user)),
            (_, Some(None), Some(port)) => found.push(place(port)),
            _ => {}
        }
    }
    found
}

/// Where a URL ends that begins a text: at a blank or a quotation mark; if one opened it, at the same.
fn end_of_url(text: &str, before: Option<char>) -> usize {
    match before {
        Some(quote) if is_quote(quote) => end_of_quoted(text, quote),
        // As messages quote: the last one of the word.
        Some('`') => {
            let end = end_of_word(text);
            text[..end].rfind('`').unwrap_or(end)
        }
        _ => end_of_word(text),
    }
}

fn of_a_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.".contains(c)
}

fn is_quote(c: char) -> bool {
    c == '\'' || c == '"'
}

/// Where a quoted text ends: at its quotation mark, unless that is doubled or escaped.
fn end_of_quoted(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let doubled = c == quote && chars.next_if(|&(_, next)| next == quote).is_some();
        if c == quote && !doubled {
            return at;
        }
        if c == '\\' {
            chars.next();
        }
    }
    text.len()
}

/// Where something ends that is not quoted: at a blank, or at the quotation mark around the whole.
fn end_of_word(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let doubled = is_quote(c) && chars.next_if(|&(_, next)| next == c).is_some();
        if c.is_whitespace() || is_quote(c) && !doubled {
            return at;
        }
        if c == '\\' {
            chars.next();
        }
    }
    text.len()
}

/// The values that follow the names of secrets.
fn after_names(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find(of_a_name).map(|begin| at + begin) {
        let rest = &text[begin..];
        let end = begin + rest.find(|c: char| !of_a_name(c)).unwrap_or(rest.len());
        at = end;
        let name = &text[begin..end];
        if let (true, Some(value)) = (is_name(name), value_after(text, begin, end))
            && !is_the_same_column(name, &text[value.clone()])
        {
            found.push(value);
        }
    }
    found
}

/// The value that follows a name: after a sign, a quoted one at once, or any after an option.
fn value_after(text: &str, begin: usize, end: usize) -> Option<Range<usize>> {
    let (name, rest) = (&text[begin..end], &text[end..]);
    let before = text[..begin].chars().next_back();
    let is_option =
        name.starts_with('-') && before.is_none_or(|c| c.is_whitespace() || is_quote(c));
    // The name may be quoted, once or, within a quoted text, twice.
    let unquoted = rest.trim_start_matches(is_quote).trim_start();
    let is_named = |sign: &&&str| unquoted.starts_with(**sign) && !unquoted.starts_with("::");
    let signs = ["==", "=>", ":=", "=", ":"];
    let sign = signs.iter().find(is_named);
    let value = match sign {
        Some(sign) => unquoted[sign.len()..].trim_start(),
        None => {
            let value = rest.trim_start();
            let is_value = match is_option {
                true => !value.is_empty() && !value.starts_with("--"),
                // A name with a point may be that of a file.
                false => value.starts_with(is_quote) && !name.contains('.'),
            };
            (value.len() < rest.len() && is_value).then_some(value)?
        }
    };
    let start = text.len() - value.len();
    let value = match before.filter(|&c| is_option && sign.is_some() && is_quote(c)) {
        // Option and value are quoted together.
        Some(quote) if !value.starts_with(is_quote) => 0..end_of_quoted(value, quote),
        _ => value_of(value),
    };
    Some(shifted(value, start))
}

fn shifted(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// The value that begins a text, without its quotation marks.
fn value_of(text: &str) -> Range<usize> {
    // The letter of a text with escapes: E'…'.
    if let Some(quoted) = text
        .strip_prefix(['e', 'E'])
        .filter(|t| t.starts_with('\''))
    {
        return shifted(value_of(quoted), text.len() - quoted.len());
    }
    if let Some(inner) = text.strip_prefix("$$") {
        return 2..2 + inner.find("$$").unwrap_or(inner.len());
    }
    let Some(quote) = text.chars().next().filter(|&c| is_quote(c)) else {
        let end = end_of_word(text);
        // `Bearer …`: what follows is the secret.
        let is_scheme = ["bearer", "basic", "token"].iter();
        return match is_scheme
            .clone()
            .any(|s| s.eq_ignore_ascii_case(&text[..end]))
        {
            true => {
                let rest = text[end..].trim_start();
                0..text.len() - rest.len() + end_of_word(rest)
            }
            false => 0..end,
        };
    };
    let twice: String = [quote, quote].iter().collect();
    match text.strip_prefix(&twice) {
        // Nothing between two marks, unless a quoted text is within another one.
        Some(inner) if inner.starts_with(|c: char| !c.is_whitespace() && !",;)}]".contains(c)) => {
            2..2 + inner.find(&twice).unwrap_or(inner.len())
        }
        Some(_) => 1..1,
        None => 1..1 + end_of_quoted(&text[1..], quote),
    }
}

/// Whether what a name is compared with is a column of the same name: `a.key = b.key`.
fn is_the_same_column(name: &str, value: &str) -> bool {
    let last = |text: &str| text.rsplit('.').next().map(str::to_lowercase);
    let of_a_column = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    value.contains('.') && value.chars().all(of_a_column) && last(name) == last(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        for (text, shown) in [
            (
                "FROM 'https://h/a.csv?sig=hush&x=1'",
                "FROM 'https://h/a.csv?***'",
            ),
            ("FROM 'https://h/a.csv#hush'", "FROM 'https://h/a.csv#***'"),
            (
                "get https://me:hush@h:80/a, or",
                "get https://***@h:80/a, or",
            ),
            ("'https://me:hu sh''s@h/a' x", "'https://***@h/a' x"),
            ("postgres://me:hu/s@h?h@host/d", "postgres://***@host/d"),
            ("postgres://host:hush/d", "postgres://host:***/d"),
            ("postgres://[::1]:5432/d", "postgres://[::1]:5432/d"),
            (
                "s3://lake/year=?/part-?.parquet",
                "s3://lake/year=?/part-?.parquet",
            ),
            ("s3://lake/a?X-Amz-Signature=hush", "s3://lake/a?***"),
            (
                "postgres_scan('host=h password=hush dbname=d', 't')",
                "postgres_scan('host=h password=*** dbname=d', 't')",
            ),
            (
                "'PassWord = ''hu sh'' dbname=d'",
                "'PassWord = ''***'' dbname=d'",
            ),
            (
                "SET s3_secret_access_key='hu''sh';",
                "SET s3_secret_access_key='***';",
            ),
            (
                "SET s3_session_token = \"hush\"",
                "SET s3_session_token = \"***\"",
            ),
            ("f(secret => $$hu sh$$)", "f(secret => $$***$$)"),
            ("f(token := E'hu\\'sh')", "f(token := E'***')"),
            (
                "CREATE SECRET (TYPE s3, KEY_ID 'hush', SECRET 'hush')",
                "CREATE SECRET (TYPE s3, KEY_ID '***', SECRET '***')",
            ),
            (
                "{'api-key': 'hush', \"pwd\":\"hush\"}",
                "{'api-key': '***', \"pwd\":\"***\"}",
            ),
            ("Authorization: Bearer hush done", "Authorization: *** done"),
            (
                "AccountName=a;AccountKey=hush==;",
                "AccountName=a;AccountKey=***",
            ),
            (
                "db_pass=hush sig=hush a.sig=hush",
                "db_pass=*** sig=*** a.sig=***",
            ),
            ("password='hush", "password='***"),
            ("password=''", "password=''"),
            ("m.py --token hush -v", "m.py --token *** -v"),
            ("m.py -api-key 'hu sh'", "m.py -api-key '***'"),
            ("sh -c '--token=hu sh' x", "sh -c '--token=***' x"),
            ("at `http://h/a?hush` and", "at `http://h/a?***` and"),
        ] {
            assert_eq!(hidden(text), shown);
        }
        assert_eq!(secrets("a=1 key=x 'https://u@h/?y'"), ["x", "u", "y"]);
    }

    #[test]
    fn what_is_no_secret_is_shown() {
        for text in [
            "SELECT * FROM people p JOIN jobs j ON p.job_key = j.job_key",
            "SELECT key::text, key, 'key' FROM t ORDER BY key",
            "SELECT * FROM t WHERE design = 'x' AND passenger = 3 AND é = '🙂'",
            "FROM 'lake/*.parquet' WHERE year = 2018",
            "https://host/a@2x.png and C:\\a://",
            "python predict.py model.pkl --max-tokens 5 --tokenizer bert --key-column id",
            "python key.py 'a b' --use-key --verbose keys/secret.json",
            "write http://host:port/invocations",
            "",
        ] {
            assert_eq!(hidden(text), text);
        }
    }

    #[test]
    fn words_of_a_command_are_hidden_whole() {
        let words = |text: &[&str]| text.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        for (command, shown, secrets) in [
            (
                &["m.py", "--token=hu sh", "--key", "hu'sh", "-v"][..],
                &["m.py", "--token=***", "--key", "***", "-v"][..],
                &["hu sh", "hu'sh"][..],
            ),
            (
                &["env", "API_TOKEN=hu sh", "m", "--password", "-hush"],
                &["env", "API_TOKEN=***", "m", "--password", "***"],
                &["hu sh", "-hush"],
            ),
            (
                &[
                    "curl",
                    "-H",
                    "Authorization: Bearer hush",
                    "http://me:hush@h/a?hush",
                ],
                &["curl", "-H", "Authorization: ***", "http://***@h/a?***"],
                &["Bearer hush", "me:hush", "hush"],
            ),
            (
                &["sh", "-c", "m.py --secret hush --fast"],
                &["sh", "-c", "m.py --secret *** --fast"],
                &["hush"],
            ),
            (
                &["m.py", "--use-key", "--fast", "-p", "8", "--token", ""],
                &["m.py", "--use-key", "--fast", "-p", "8", "--token", ""],
                &[],
            ),
        ] {
            assert_eq!(hidden_words(&words(command)), words(shown));
            assert_eq!(secrets_of_words(&words(command)), secrets);
        }
        assert_eq!(without("a hush, hu", &["hu", "", "hush"]), "a ***, ***");
    }

    #[test]
    fn names_say_nothing_outside_urls() {
        let text = "KeyError: 'job' at postgresql://me:hush@h/d";
        let shown = "KeyError: 'job' at postgresql://***@h/d";
        assert_eq!(hidden_in_urls(text), shown);
        assert_eq!(hidden_in_urls(shown), shown);
    }

    #[test]
    fn any_text_can_be_looked_through() {
        let pieces = [
            "key", "=", "'", "\"", "\\", "é", " ", "://", "@", "?", "$$", ":", "E'", "a", "--",
            " ", "`",
        ];
        let mut number: u64 = 7;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                number = number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                text += pieces[(number >> 33) as usize % pieces.len()];
            }
            // Nothing but secrets is taken away, and hiding twice is hiding once.
            let shown = hidden(&text);
            let kept: usize = secrets(&text).iter().map(|secret| secret.len()).sum();
            let marks = HIDDEN.len() * secrets(&text).len();
            assert_eq!(shown.len() + kept, text.len() + marks, "{text}");
        }
    }
}
