//! Platform statistics and the overview of modules: derived from the table and the data.

use crate::app::PLATFORM_VERSION;
use crate::error::Error;
use crate::http::route::{Made, Makings, Route};
use serde_json::{Value, json};

/// `GET /api/stats`: the bare record of the specification.
pub fn stats(makings: &Makings) -> Result<Made, Error> {
    let catalogue = &makings.reference.catalogue;
    Ok(Made::Json(json!({
        "modules": catalogue.modules.data.len(),
        "measures": catalogue.measures.data.len(),
        "evidence": catalogue.evidence.data.len(),
        "radar_signals": catalogue.signals.data.len(),
        "routes_count": makings.routes.len(),
        "platform_version": PLATFORM_VERSION,
    })))
}

/// `GET /api/modules`: each module with its routes and whether this build has them.
pub fn modules(makings: &Makings) -> Result<Made, Error> {
    let modules = &makings.reference.catalogue.modules;
    let data: Vec<Value> = modules
        .data
        .iter()
        .map(|module| {
            let routes: Vec<&Route> =
                makings.routes.iter().filter(|route| belongs(route.path, &module.paths)).collect();
            let available = routes.iter().filter(|route| route.handler.is_available()).count();
            json!({
                "id": module.id,
                "name": module.name,
                "description": module.description,
                "status": status(available, routes.len()),
                "routes_count": routes.len(),
                "routes_available": available,
                "routes": routes.iter().map(|route| route_entry(route)).collect::<Vec<_>>(),
            })
        })
        .collect();
    let meta = json!({ "count": data.len(), "version": PLATFORM_VERSION, "updated_on": modules.updated_on });
    Ok(Made::Json(json!({ "data": data, "meta": meta })))
}

fn status(available: usize, all: usize) -> &'static str {
    match available {
        0 => "planned",
        some if some < all => "partial",
        _ => "available",
    }
}

fn route_entry(route: &Route) -> Value {
    json!({
        "method": route.verb.name(),
        "path": route.path,
        "tier": route.tier.title(),
        "available": route.handler.is_available(),
    })
}

/// A path belongs to a module by the module's longest match: itself or a folder above it. The three
/// bare indexes belong to nothing but their own name.
pub fn belongs(path: &str, beginnings: &[String]) -> bool {
    beginnings.iter().any(|beginning| {
        let rest = path.strip_prefix(beginning.as_str());
        let is_index = matches!(beginning.as_str(), "/api" | "/api/v2");
        rest.is_some_and(|rest| rest.is_empty() || (!is_index && rest.starts_with('/')))
    })
}
