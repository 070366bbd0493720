//! What if: a register with changes that are only supposed.
//!
//! What it names must be the tenant's own; nothing of it is ever stored.

use super::analysis::Register;
use super::arrangement::Arrangement;
use super::form::Values;
use super::provider::Provider;
use crate::error::Faults;
use std::collections::HashSet;

/// The register as it would be. Every id that names nothing is a fault.
pub fn suppose(register: &Register, what_if: &Values, now_ms: i64) -> Result<Register, Faults> {
    let mut faults = Faults::default();
    let mut supposed = register.clone();
    remove(&mut supposed, what_if, &mut faults);
    for (position, values) in what_if.records("add").iter().enumerate() {
        // Its place in the request is the only name it has.
        let place = format!("what_if.add[{position}]");
        let mut arrangement = Arrangement::new(place.clone(), values, now_ms);
        match provider_of(&mut supposed.providers, values, &place, now_ms) {
            Ok(provider_id) => arrangement.provider_id = provider_id,
            Err((field, reason)) => faults.add(&format!("{place}.{field}"), reason),
        }
        supposed.arrangements.push(arrangement);
    }
    if faults.fields.is_empty() { Ok(supposed) } else { Err(faults) }
}

fn remove(register: &mut Register, what_if: &Values, faults: &mut Faults) {
    let mut ids = Vec::new();
    what_if.set_texts("remove", &mut ids);
    let known: HashSet<&str> =
        register.arrangements.iter().map(|arrangement| arrangement.id.as_str()).collect();
    for (position, _) in ids.iter().enumerate().filter(|(_, id)| !known.contains(id.as_str())) {
        faults.add(&format!("what_if.remove[{position}]"), "does not exist");
    }
    let gone: HashSet<String> = ids.into_iter().collect();
    register.arrangements.retain(|arrangement| !gone.contains(&arrangement.id));
}

/// The provider by id, or by name; a name that the register does not know is a new provider.
fn provider_of(
    providers: &mut Vec<Provider>,
    values: &Values,
    place: &str,
    now_ms: i64,
) -> Result<String, (&'static str, &'static str)> {
    let name = values.text("provider").map(str::trim).filter(|name| !name.is_empty());
    match (values.text("provider_id"), name) {
        (Some(_), Some(_)) => Err(("provider", "cannot stand beside provider_id; give one of them")),
        (None, None) => Err(("provider_id", "is required, or `provider` with a name")),
        (Some(id), None) => match providers.iter().any(|provider| provider.id == id) {
            true => Ok(id.to_owned()),
            false => Err(("provider_id", "does not exist")),
        },
        (None, Some(name)) => {
            if let Some(known) = providers.iter().find(|provider| provider.name.trim() == name) {
                return Ok(known.id.clone());
            }
            providers.push(Provider::named(place.to_owned(), name, now_ms));
            Ok(place.to_owned())
        }
    }
}
