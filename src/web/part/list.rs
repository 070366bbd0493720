//! What lists have in common: heads that sort, pages, and what is said when nothing is there. All of it is links,
//! so that the address is the state.

use super::super::words::Words;
use crate::domain::page::Page;
use crate::domain::query::Query;
use askama::Template;

/// A column of a list.
pub struct Column {
    /// Key of the catalogue.
    pub key: &'static str,
    /// The word of `sort` that orders by it; none where nothing does.
    pub sort: Option<&'static str>,
    /// A class of the stylesheet.
    pub class: &'static str,
}

/// A column that can be sorted by.
pub const fn column(key: &'static str, sort: Option<&'static str>) -> Column {
    Column { key, sort, class: "" }
}

impl Column {
    /// A column of figures.
    pub const fn figures(mut self) -> Column {
        self.class = "num";
        self
    }
}

struct Head {
    text: &'static str,
    class: &'static str,
    href: String,
    order: &'static str,
}

/// The heads of a table.
#[derive(Template)]
#[template(path = "part/heads.html")]
pub struct Heads {
    heads: Vec<Head>,
}

impl Heads {
    /// The heads of a list at `path`; a second click turns the order round.
    pub fn of(words: Words, path: &str, query: &Query, columns: &[Column]) -> Heads {
        let now = query.get("sort").unwrap_or_default();
        let head = |column: &Column| {
            let (up, down) = match column.sort {
                Some(word) => (now == word, now.strip_prefix('-') == Some(word)),
                None => (false, false),
            };
            let next = |word: &str| if up { format!("-{word}") } else { word.to_owned() };
            Head {
                text: words.t(column.key),
                class: column.class,
                href: column
                    .sort
                    .map(|word| query.link(path, &[("sort", &next(word)), ("offset", "")]))
                    .unwrap_or_default(),
                order: if up {
                    "ascending"
                } else if down {
                    "descending"
                } else {
                    ""
                },
            }
        };
        Heads { heads: columns.iter().map(head).collect() }
    }
}

/// Pages of a list.
#[derive(Template)]
#[template(path = "part/pager.html")]
pub struct Pager {
    label: &'static str,
    says: String,
    earlier: Option<(String, &'static str)>,
    later: Option<(String, &'static str)>,
}

impl Pager {
    /// The pager of a list of `total` items of which `shown` are on this page.
    pub fn of(words: Words, path: &str, query: &Query, page: Page, shown: usize, total: u64) -> Pager {
        let shown = u64::try_from(shown).unwrap_or(0);
        let link = |offset: u64| {
            let offset = if offset == 0 { String::new() } else { offset.to_string() };
            query.link(path, &[("offset", &offset)])
        };
        let (first, last) = (page.offset.saturating_add(1), page.offset.saturating_add(shown));
        let range = [words.number(first), words.number(last), words.number(total)];
        let parts = [("first", range[0].as_str()), ("last", range[1].as_str()), ("total", range[2].as_str())];
        let before = page.offset.saturating_sub(page.limit).min(total.saturating_sub(1));
        Pager {
            label: words.t("pager.label"),
            says: if shown == 0 { String::new() } else { words.say("pager.says", &parts) },
            earlier: (page.offset > 0).then(|| (link(before), words.t("pager.earlier"))),
            later: (last < total && shown > 0).then(|| (link(last), words.t("pager.later"))),
        }
    }
}

/// What stands where rows would.
#[derive(Template)]
#[template(path = "part/empty.html")]
pub struct Empty {
    /// What is not there.
    pub title: String,
    /// What would be there, or what was looked for.
    pub text: String,
    /// A way on: where to, what it says; the last is the main one.
    pub links: Vec<(String, &'static str)>,
}

impl Empty {
    /// Nothing there yet, or nothing that fits the filter. `noun` gives the keys: `noun.none`, `noun.none_text`,
    /// `noun.no_match`, `noun.no_match_text`.
    pub fn of(words: Words, noun: &str, path: &str, query: &Query) -> Empty {
        let filtered = query.given().any(|(name, _)| name != "sort");
        let key = |what: &str| words.t(&format!("{noun}.{what}")).to_owned();
        match filtered {
            true => Empty {
                title: key("no_match"),
                text: key("no_match_text"),
                links: vec![(path.to_owned(), words.t("filter.clear"))],
            },
            false => Empty { title: key("none"), text: key("none_text"), links: Vec::new() },
        }
    }

    /// With a way on.
    pub fn link(mut self, href: impl Into<String>, text: &'static str) -> Empty {
        self.links.push((href.into(), text));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::query::{OFFSET, Param, SEARCH, filter};

    static PARAMS: &[Param] = &[OFFSET, SEARCH, filter("sort", &["name", "-name"], "")];

    #[test]
    fn heads_and_pages_keep_the_rest_of_the_address() {
        let query = Query::of_page("search=a&sort=name&offset=50", PARAMS).unwrap();
        let heads = Heads::of(
            Words::ENGLISH,
            "/x",
            &query,
            &[column("nav.users", Some("name")), column("nav.audit", None)],
        );
        let html = heads.to_string();
        assert!(
            html.contains("aria-sort=\"ascending\"") && html.contains("/x?search=a&#38;sort=-name"),
            "{html}"
        );
        let page = Page { limit: 50, offset: 50 };
        let html = Pager::of(Words::ENGLISH, "/x", &query, page, 50, 120).to_string();
        assert!(html.contains("51 to 100 of 120"), "{html}");
        assert!(html.contains("/x?search=a&#38;sort=name\"") && html.contains("offset=100"), "{html}");
    }
}
