//! The indexes of the public tier and of API v2, read from the table.

use crate::app::PLATFORM_VERSION;
use crate::error::Error;
use crate::http::envelope::V2_VERSION;
use crate::http::route::{Made, Makings, Route, Tier};
use crate::shape::{Is, Shape, Shown, flag, list, record, text, whole, word};
use serde_json::{Value, json};

const METHOD: Shown = word("method", &["GET", "POST", "PUT", "PATCH", "DELETE"]);
const PATH: Shown = text("path").such_as(r#""/api/measures""#);
const URL: Shown = text("url").says("Its whole address.").such_as(r#""http://127.0.0.1:8080/api/measures""#);
const SAYS: Shown = text("description").says("What it is for.").such_as(r#""Catalogue of DORA measures.""#);

/// The public index, as it is shown.
pub static INDEX: Shape = Shape {
    name: "Index",
    fields: &[
        text("name").such_as(r#""Holdfast""#),
        text("description"),
        list("data", &Is::Record(&ENTRY)).says("The public endpoints."),
        list("operation", &Is::Record(&ENTRY)).says("The operational endpoints."),
        Shown::new("api", Is::Keyed(&Is::Text)).says("Where to go on."),
        text("contact").nullable().says("Whom to ask for access."),
        record("meta", &INDEX_META),
    ],
};
static ENTRY: Shape = Shape { name: "IndexEntry", fields: &[METHOD, PATH, URL, SAYS] };
static INDEX_META: Shape = Shape { name: "IndexMeta", fields: &[whole("count"), text("version")] };
/// The index of API v2, as it is shown.
pub static V2_INDEX: Shape =
    Shape { name: "V2Index", fields: &[list("data", &Is::Record(&V2_ENTRY)), record("meta", &INDEX_META)] };
static V2_ENTRY: Shape = Shape {
    name: "V2IndexEntry",
    fields: &[
        METHOD,
        PATH,
        URL,
        SAYS,
        list("parameters", &Is::Text).says("The query parameters it takes."),
        flag("available").says("Whether this build has code for it."),
    ],
};

/// `GET /api`
pub fn public(makings: &Makings) -> Result<Made, Error> {
    let data: Vec<Value> = of_tier(makings, Tier::Public).map(|route| entry(makings, route)).collect();
    let operation: Vec<Value> = of_tier(makings, Tier::Service).map(|route| entry(makings, route)).collect();
    let meta = json!({ "count": data.len(), "version": PLATFORM_VERSION });
    Ok(Made::Json(json!({
        "name": "Holdfast",
        "description": "Compliance and operational resilience for small EU financial entities.",
        "data": data,
        "operation": operation,
        "api": { "v2": "/api/v2", "openapi": "/api/openapi.json", "documentation": "/docs" },
        "contact": makings.contact,
        "meta": meta,
    })))
}

/// `GET /api/v2`
pub fn v2(makings: &Makings) -> Result<Made, Error> {
    let data: Vec<Value> = of_tier(makings, Tier::V2)
        .map(|route| {
            let mut entry = entry(makings, route);
            entry["parameters"] = route.asks.iter().map(|param| param.name).collect();
            entry["available"] = json!(route.handler.is_available());
            entry
        })
        .collect();
    let meta = json!({ "count": data.len(), "version": V2_VERSION });
    Ok(Made::Json(json!({ "data": data, "meta": meta })))
}

fn of_tier<'a>(makings: &'a Makings, tier: Tier) -> impl Iterator<Item = &'static Route> + 'a {
    makings.routes.iter().filter(move |route| route.tier == tier)
}

fn entry(makings: &Makings, route: &Route) -> Value {
    json!({
        "method": route.verb.name(),
        "path": route.path,
        "url": format!("{}{}", makings.base_url, route.path),
        "description": route.says,
    })
}
