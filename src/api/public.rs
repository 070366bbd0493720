//! Platform statistics and the overview of modules: derived from the table and the data.

use crate::app::PLATFORM_VERSION;
use crate::error::Error;
use crate::http::route::{Made, Makings, Route};
pub use crate::reference::belongs;
use crate::shape::{Is, Shape, Shown, flag, list, record, text, whole, word};
use serde_json::{Value, json};

/// Platform statistics, as they are shown.
pub static STATISTICS: Shape = Shape {
    name: "Statistics",
    fields: &[
        whole("modules"),
        whole("measures"),
        whole("evidence"),
        whole("radar_signals"),
        whole("routes_count"),
        text("platform_version"),
    ],
};
/// The overview of modules, as it is shown.
pub static MODULES: Shape =
    Shape { name: "Modules", fields: &[list("data", &Is::Record(&MODULE)), record("meta", &MODULES_META)] };
static MODULE: Shape = Shape {
    name: "Module",
    fields: &[
        text("id"),
        text("name"),
        text("description"),
        word("status", &["available", "partial", "planned"]),
        whole("routes_count"),
        whole("routes_available"),
        list("routes", &Is::Record(&MODULE_ROUTE)),
    ],
};
static MODULE_ROUTE: Shape =
    Shape { name: "ModuleRoute", fields: &[text("method"), text("path"), text("tier"), flag("available")] };
static MODULES_META: Shape = Shape {
    name: "ModulesMeta",
    fields: &[whole("count"), text("version"), Shown::new("updated_on", Is::Day)],
};

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
