//! Lists to choose from: the tenant's own objects, by id and name, as filters and forms want them.

use crate::domain::query::{LIMIT, Param, Query, filter};
use crate::domain::user::User;
use crate::error::Error;
use crate::store::Tenant;

/// So many characters of a name are shown in a list to choose from.
const NAME_CHARS_MAX: usize = 80;
static PARAMS: &[Param] = &[LIMIT, filter("sort", &["name", "newest"], "The order.")];

/// Up to 200 programmes, by name; the one that is chosen is always among them.
pub fn programmes(tenant: &Tenant, chosen: Option<&str>) -> Result<Vec<(String, String)>, Error> {
    let listed = tenant.programmes(&asked("limit=200&sort=name")?)?;
    let items = listed.items.into_iter().map(|programme| (programme.id, programme.name));
    with_chosen(items.collect(), chosen, |id| tenant.programme(id).map(|programme| programme.name))
}

/// Up to 200 test cases, the newest; the one that is chosen is always among them.
pub fn test_cases(tenant: &Tenant, chosen: Option<&str>) -> Result<Vec<(String, String)>, Error> {
    let listed = tenant.test_cases(&asked("limit=200&sort=newest")?)?;
    let items = listed.items.into_iter().map(|case| (case.id, case.title));
    with_chosen(items.collect(), chosen, |id| tenant.test_case(id).map(|case| case.title))
}

/// Up to 200 providers, by name; the one that is chosen is always among them.
pub fn providers(tenant: &Tenant, chosen: Option<&str>) -> Result<Vec<(String, String)>, Error> {
    let listed = tenant.providers(&asked("limit=200&sort=name")?)?;
    let items = listed.items.into_iter().map(|provider| (provider.id, provider.name));
    with_chosen(items.collect(), chosen, |id| tenant.provider(id).map(|provider| provider.name))
}

/// The people of the workspace; whoever else is chosen, such as a key, is among them by its id.
pub fn people(tenant: &Tenant, chosen: Option<&str>) -> Result<Vec<(String, String)>, Error> {
    let name = |user: &User| if user.name.is_empty() { user.email.clone() } else { user.name.clone() };
    let items = tenant.users()?.into_iter().map(|user| (user.id.clone(), name(&user)));
    with_chosen(items.collect(), chosen, |id| Ok(id.to_owned()))
}

fn asked(raw: &str) -> Result<Query, Error> {
    Query::check(raw, PARAMS).map_err(Error::Invalid)
}

fn with_chosen(
    mut items: Vec<(String, String)>,
    chosen: Option<&str>,
    name_of: impl Fn(&str) -> Result<String, Error>,
) -> Result<Vec<(String, String)>, Error> {
    if let Some(chosen) = chosen.filter(|chosen| !items.iter().any(|(id, _)| id == chosen)) {
        match name_of(chosen) {
            Ok(name) => items.push((chosen.to_owned(), name)),
            // What is not there cannot be chosen; the list then simply shows nothing chosen.
            Err(Error::NotFound(_)) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(items.into_iter().map(|(id, name)| (id, short(&name))).collect())
}

/// The beginning of a long text.
pub fn short(text: &str) -> String {
    match text.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
