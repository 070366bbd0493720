//! Queries: what an address may ask for behind its question mark, as rows.
//!
//! A parameter that the route does not know, that comes twice or that has a value
//! out of its set is a fault; all faults are named at once.

use super::day::Day;
use super::page::{LIMIT_MAX, Page};
use crate::error::Faults;

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// What it may hold.
    pub kind: ParamKind,
    /// One sentence for people.
    pub says: &'static str,
}

/// What a parameter may hold.
#[derive(Clone, Copy, Debug)]
pub enum ParamKind {
    /// Page size: a whole number from 1; above 500 is applied as 500.
    Limit,
    /// Items to leave out: a whole number from 0.
    Offset,
    /// Free text.
    Text {
        /// Characters, not bytes.
        max_chars: usize,
    },
    /// Free text without which there is nothing to answer: it must be given and not be blank.
    Needed {
        /// Characters, not bytes.
        max_chars: usize,
    },
    /// One of a closed set of words.
    Choice(&'static [&'static str]),
    /// A whole number within bounds.
    Integer {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A day, `2026-11-15`.
    Day,
}

/// `limit`, as every list takes it.
pub const LIMIT: Param = Param {
    name: "limit",
    kind: ParamKind::Limit,
    says: "Items per page, from 1; the default is 50, and more than 500 is applied as 500.",
};
/// `offset`, as every list takes it.
pub const OFFSET: Param =
    Param { name: "offset", kind: ParamKind::Offset, says: "Items to leave out before the first, from 0." };
/// `search`, as every list takes it.
pub const SEARCH: Param = Param {
    name: "search",
    kind: ParamKind::Text { max_chars: 200 },
    says: "Only items whose text contains every one of these words; capitals and marks on letters do not matter.",
};

/// A filter by one of a closed set of words.
pub const fn filter(name: &'static str, of: &'static [&'static str], says: &'static str) -> Param {
    Param { name, kind: ParamKind::Choice(of), says }
}

/// A query that passed its check.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Query(Vec<(&'static str, String)>);

impl Query {
    /// Checks the raw text behind the question mark against a route's parameters.
    pub fn check(raw: &str, params: &'static [Param]) -> Result<Query, Faults> {
        let mut faults = Faults::default();
        let mut given: Vec<(&'static str, String)> = Vec::new();
        for pair in raw.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let Some(name) = decode(name) else {
                faults.add(name, "is not valid percent-encoded UTF-8");
                continue;
            };
            let Some(param) = params.iter().find(|param| param.name == name) else {
                faults.add(&name, unknown_reason(params));
                continue;
            };
            let checked = decode(value)
                .ok_or_else(|| "is not valid percent-encoded UTF-8".to_owned())
                .and_then(|value| param.check(&value));
            match checked {
                Err(reason) => faults.add(param.name, reason),
                Ok(_) if given.iter().any(|(known, _)| *known == param.name) => {
                    faults.add(param.name, "comes twice; give it once");
                }
                Ok(value) => given.push((param.name, value)),
            }
        }
        for param in params.iter().filter(|param| param.is_needed()) {
            let named = |name: &String| name == param.name;
            if !given.iter().any(|(known, _)| *known == param.name)
                && !faults.fields.iter().any(|(name, _)| named(name))
            {
                faults.add(param.name, "is required");
            }
        }
        if faults.fields.is_empty() { Ok(Query(given)) } else { Err(faults) }
    }

    /// Reads the address of a page: a form sends what was left empty too, and a link may carry what we do not know.
    pub fn of_page(raw: &str, params: &'static [Param]) -> Result<Query, Faults> {
        let counts = |pair: &&str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let known = decode(name).is_some_and(|name| params.iter().any(|param| param.name == name));
            known && !value.is_empty()
        };
        let kept: Vec<&str> = raw.split('&').filter(counts).collect();
        Query::check(&kept.join("&"), params)
    }

    /// What was given, in its order.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// The address of a page with this query, some parameters changed or, by the empty text, left away.
    pub fn link(&self, path: &str, changes: &[(&str, &str)]) -> String {
        let pair = |name: &str, value: &str| format!("{name}={}", encode(value));
        let kept = self.given().filter(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
        let mut pairs: Vec<String> = kept.map(|(name, value)| pair(name, value)).collect();
        let changed = changes.iter().filter(|(_, value)| !value.is_empty());
        pairs.extend(changed.map(|(name, value)| pair(name, value)));
        if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
    }

    /// The same list from its beginning, with so many rows: for a file, not for a page.
    pub fn first(&self, rows: u64) -> Query {
        let kept = self.0.iter().filter(|(name, _)| !["limit", "offset"].contains(name)).cloned();
        Query(kept.chain([("limit", rows.to_string())]).collect())
    }

    /// A parameter's value, if it was given.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The page asked for.
    pub fn page(&self) -> Page {
        let number = |name| self.get(name).and_then(|text| text.parse().ok());
        let default = Page::default();
        Page {
            limit: number("limit").unwrap_or(default.limit),
            offset: number("offset").unwrap_or(default.offset),
        }
    }

    /// The query in one spelling, whatever the order in which it came; for cache keys and ETags.
    pub fn canonical(&self) -> String {
        let mut pairs: Vec<&(&str, String)> = self.0.iter().collect();
        pairs.sort();
        let mut text = String::new();
        for (name, value) in pairs {
            // The length keeps `a=b&c` in one value apart from two parameters.
            text.push_str(&format!("{name}={}:{value}&", value.len()));
        }
        text
    }
}

impl Param {
    /// Must it be given?
    pub fn is_needed(&self) -> bool {
        matches!(self.kind, ParamKind::Needed { .. })
    }

    /// The value in its one spelling, or what is wrong with it.
    fn check(&self, value: &str) -> Result<String, String> {
        match self.kind {
            ParamKind::Limit => whole_number(value)
                .filter(|number| *number >= 1)
                .map(|number| number.min(LIMIT_MAX).to_string())
                .ok_or_else(|| "must be a whole number, 1 or more".into()),
            ParamKind::Offset => whole_number(value)
                .map(|number| number.to_string())
                .ok_or_else(|| "must be a whole number, 0 or more".into()),
            ParamKind::Text { max_chars } | ParamKind::Needed { max_chars }
                if value.chars().count() > max_chars =>
            {
                Err(format!("has more than {max_chars} characters"))
            }
            ParamKind::Needed { .. } if value.trim().is_empty() => Err("must not be blank".into()),
            ParamKind::Text { .. } | ParamKind::Needed { .. } => Ok(value.to_owned()),
            ParamKind::Choice(of) if of.contains(&value) => Ok(value.to_owned()),
            ParamKind::Choice(of) => Err(format!("must be one of: {}", of.join(", "))),
            ParamKind::Integer { min, max } => value
                .parse::<i64>()
                .ok()
                .filter(|number| (min..=max).contains(number))
                .map(|number| number.to_string())
                .ok_or_else(|| format!("must be a whole number from {min} to {max}")),
            ParamKind::Day => Day::parse(value)
                .map(|day| day.to_string())
                .ok_or_else(|| "must be a day as 2026-11-15".into()),
        }
    }
}

/// Digits only. A number too large for the machine is still a number: it is cut to the largest.
fn whole_number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

fn unknown_reason(params: &[Param]) -> String {
    let known: Vec<&str> = params.iter().map(|param| param.name).collect();
    match known.is_empty() {
        true => "is not a parameter of this route; it takes none".into(),
        false => format!("is not a parameter of this route; it takes: {}", known.join(", ")),
    }
}

/// Percent-decoding, with `+` as a space. `None` if the result is no UTF-8 or an escape is broken.
pub fn decode(text: &str) -> Option<String> {
    percent_decode(text, true)
}

/// Percent-encoding of a value, so that it stands in an address as it is.
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// Percent-decoding of one path segment, where `+` is a plus.
pub fn decode_segment(text: &str) -> Option<String> {
    percent_decode(text, false)
}

fn percent_decode(text: &str, plus_is_space: bool) -> Option<String> {
    if !text.bytes().any(|byte| byte == b'%' || byte == b'+') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                bytes.push((high * 16 + low) as u8);
            }
            b'+' if plus_is_space => bytes.push(b' '),
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    static PARAMS: &[Param] = &[LIMIT, OFFSET, SEARCH, filter("level", &["high", "low"], "")];

    #[test]
    fn good_values_are_read_and_a_large_limit_is_cut() {
        let query = Query::check("limit=9999&offset=7&search=gr%C3%B6%C3%9Fe+a&level=high", PARAMS).unwrap();
        assert_eq!(query.page(), Page { limit: 500, offset: 7 });
        assert_eq!(query.get("search"), Some("größe a"));
        assert_eq!(query.get("level"), Some("high"));
        assert_eq!(Query::check("", PARAMS).unwrap().page(), Page::default());
    }

    #[test]
    fn the_address_of_a_page_forgives_what_a_form_leaves_empty_and_no_more() {
        let query = Query::of_page("search=a+b&level=&utm=x&limit=", PARAMS).unwrap();
        assert_eq!(query.given().collect::<Vec<_>>(), [("search", "a b")]);
        assert!(Query::of_page("level=mid", PARAMS).is_err());
        assert_eq!(query.link("/x", &[("offset", "50"), ("level", "")]), "/x?search=a%20b&offset=50");
        assert_eq!(query.link("/x", &[("search", "")]), "/x");
        assert_eq!(decode(&encode("ä&=#? %+/")).as_deref(), Some("ä&=#? %+/"));
    }

    #[test]
    fn numbers_beyond_the_machine_are_still_numbers() {
        let query =
            Query::check("limit=99999999999999999999999&offset=99999999999999999999999", PARAMS).unwrap();
        assert_eq!(query.page(), Page { limit: 500, offset: u64::MAX });
    }

    #[test]
    fn what_is_needed_must_be_there_and_say_something() {
        static NEEDED: &[Param] =
            &[LIMIT, Param { name: "q", kind: ParamKind::Needed { max_chars: 3 }, says: "" }];
        for bad in ["", "limit=1", "q", "q=", "q=+%20%09", "q=%E2%80%83", "q=abcd", "q=%FF", "q=a&q=b"] {
            let faults = Query::check(bad, NEEDED).unwrap_err();
            assert_eq!(faults.fields.iter().filter(|(name, _)| name == "q").count(), 1, "{bad}");
        }
        assert_eq!(Query::check("q=*%00", NEEDED).unwrap().get("q"), Some("*\0"));
    }

    #[test]
    fn every_fault_is_named() {
        let faults = Query::check("limit=0&offset=-1&level=mid&colour=red&search=%zz", PARAMS).unwrap_err();
        let names: Vec<&str> = faults.fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["limit", "offset", "level", "colour", "search"]);
        for bad in ["limit=1&limit=2", "limit=1.0", "limit=1e3", "limit=%FF", "limit=", "limit"] {
            assert!(Query::check(bad, PARAMS).is_err(), "{bad}");
        }
    }
}
