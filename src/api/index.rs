//! The indexes of the public tier and of API v2, read from the table.

use crate::app::PLATFORM_VERSION;
use crate::error::Error;
use crate::http::envelope::V2_VERSION;
use crate::http::route::{Made, Makings, Route, Tier};
use serde_json::{Value, json};

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
        "api": { "v2": "/api/v2", "openapi": "/api/openapi.json" },
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
