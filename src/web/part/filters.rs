//! The filter of a list: a GET form made from the row's parameters, and what is filtered by, each to be taken away.

use super::super::time;
use super::super::words::Words;
use crate::domain::day::Day;
use crate::domain::query::{Param, ParamKind, Query};
use askama::Template;

struct Filter {
    name: &'static str,
    label: String,
    value: String,
    /// What the list says when nothing is chosen.
    any: &'static str,
    /// The type of its input.
    input: &'static str,
    /// Value, text, chosen; none for free text.
    options: Option<Vec<(String, String, bool)>>,
}

struct Chip {
    text: String,
    href: String,
}

/// The filter.
#[derive(Template)]
#[template(path = "part/filters.html")]
pub struct Filters {
    words: Words,
    path: String,
    label: String,
    fields: Vec<Filter>,
    sort: Option<String>,
    chips: Vec<Chip>,
    says: String,
}

impl Filters {
    /// The filter of the list at `path`. `says` is what was found, `label` what is listed.
    pub fn of(
        words: Words,
        noun: &str,
        path: &str,
        query: &Query,
        params: &'static [Param],
        says: String,
    ) -> Filters {
        let shown = |param: &&Param| !matches!(param.name, "limit" | "offset" | "sort");
        let mut filters = Filters {
            words,
            path: path.to_owned(),
            label: words.t(&format!("{noun}.title")).to_owned(),
            fields: Vec::new(),
            sort: query.get("sort").map(str::to_owned),
            chips: Vec::new(),
            says,
        };
        for param in params.iter().filter(shown) {
            let value = query.get(param.name).unwrap_or_default().to_owned();
            let label = words.field(noun, param.name);
            let options = match param.kind {
                ParamKind::Choice(of) => {
                    Some(of.iter().map(|word| ((*word).into(), words.word(word), *word == value)).collect())
                }
                ParamKind::Limit
                | ParamKind::Offset
                | ParamKind::Text { .. }
                | ParamKind::Needed { .. }
                | ParamKind::Integer { .. }
                | ParamKind::Day => None,
            };
            let is_day = matches!(param.kind, ParamKind::Day);
            if !value.is_empty() {
                let shown = match (options.is_some(), Day::parse(&value).filter(|_| is_day)) {
                    (true, _) => words.word(&value),
                    (false, Some(day)) => time::day(words, day),
                    (false, None) => value.clone(),
                };
                let text = format!("{label}: {shown}");
                let href = query.link(path, &[(param.name, ""), ("offset", "")]);
                filters.chips.push(Chip { text, href });
            }
            let own_any = words.find(&format!("{noun}.any.{}", param.name));
            let any = own_any.unwrap_or_else(|| words.t("filter.any"));
            let input = if is_day { "date" } else { "search" };
            filters.fields.push(Filter { name: param.name, label, value, any, input, options });
        }
        filters
    }

    /// Gives a free parameter a list to choose from: value and text, such as the id and the name of a programme.
    pub fn options(mut self, name: &str, of: Vec<(String, String)>) -> Filters {
        let Some(place) = self.fields.iter().position(|field| field.name == name) else { return self };
        let (label, value) = (self.fields[place].label.clone(), self.fields[place].value.clone());
        let chosen = of.iter().find(|(known, _)| *known == value).map(|(_, text)| text.clone());
        if let Some(chosen) = chosen {
            let before = format!("{label}: {value}");
            let chip = self.chips.iter_mut().find(|chip| chip.text == before);
            chip.into_iter().for_each(|chip| chip.text = format!("{label}: {chosen}"));
        }
        let options = of.into_iter().map(|(known, text)| {
            let is_chosen = known == value;
            (known, text, is_chosen)
        });
        self.fields[place].options = Some(options.collect());
        self
    }
}
