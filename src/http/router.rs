//! From a path and a method to a row of the table: 404, 405 with `Allow`, HEAD as GET.

use super::route::{Route, Verb};
use crate::error::Error;
use std::collections::HashMap;

/// The table, ready for look-ups.
pub struct Router {
    paths: matchit::Router<usize>,
    places: Vec<Place>,
}

/// All rows of one path.
pub struct Place {
    rows: [Option<usize>; Verb::ALL.len()],
    /// The `Allow` header.
    pub allow: String,
    /// A row of this path, for what all of them share.
    pub any: usize,
}

/// Which of the listening addresses a request came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// The service's.
    Front,
    /// That of the figures.
    Metrics,
}

/// Where a path leads.
pub enum Found<'a> {
    /// To a row, perhaps with an identifier out of the path.
    Row(usize, Option<&'a str>),
    /// The path is known, the method is not.
    WrongMethod(&'a Place),
    /// Nowhere.
    Nothing,
}

impl Router {
    /// Builds the router from the rows that are wanted. An ambiguous table is an error at start, not a
    /// surprise later.
    pub fn new(routes: &[&Route], wanted: impl Fn(&Route) -> bool) -> Result<Router, Error> {
        let mut paths = matchit::Router::new();
        let mut places: Vec<Place> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (position, route) in routes.iter().enumerate().filter(|(_, route)| wanted(route)) {
            let place = match known.get(route.path) {
                Some(place) => *place,
                None => {
                    paths.insert(route.path, places.len()).map_err(|cause| {
                        Error::internal("building the router", format!("{}: {cause}", route.path))
                    })?;
                    known.insert(route.path, places.len());
                    places.push(Place { rows: [None; Verb::ALL.len()], allow: String::new(), any: position });
                    places.len() - 1
                }
            };
            let slot = &mut places[place].rows[route.verb as usize];
            if slot.replace(position).is_some() {
                return Err(Error::internal("building the router", format!("{} stands twice", route.name())));
            }
        }
        for place in &mut places {
            place.allow = allow(place, routes);
        }
        Ok(Router { paths, places })
    }

    /// Looks a request up.
    pub fn find<'a>(&'a self, method: &str, path: &'a str) -> Found<'a> {
        let Ok(matched) = self.paths.at(path) else { return Found::Nothing };
        let place = &self.places[*matched.value];
        let row = Verb::of_method(method).and_then(|verb| place.rows[verb as usize]);
        match row {
            Some(row) => Found::Row(row, matched.params.iter().next().map(|(_, value)| value)),
            None => Found::WrongMethod(place),
        }
    }
}

fn allow(place: &Place, routes: &[&Route]) -> String {
    let mut methods = Vec::new();
    for verb in Verb::ALL.into_iter().filter(|verb| place.rows[*verb as usize].is_some()) {
        methods.push(verb.name());
        if verb == Verb::Get {
            methods.push("HEAD");
        }
    }
    if routes[place.any].tier.is_open_to_browsers() {
        methods.push("OPTIONS");
    }
    methods.join(", ")
}
