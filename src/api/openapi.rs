//! The OpenAPI 3.1 document, read from the table.

use crate::app::PLATFORM_VERSION;
use crate::domain::form::{Field, Form, Kind};
use crate::domain::limit::Rules;
use crate::domain::query::{Param, ParamKind};
use crate::error::Error;
use crate::http::route::{Credentials, Gives, Made, Makings, Route, Tier};
use crate::limiter::{LimitClass, Limits};
use serde_json::{Map, Value, json};

/// `GET /api/openapi.json`
pub fn document(makings: &Makings) -> Result<Made, Error> {
    let mut paths = Map::new();
    for route in makings.routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.verb.name().to_lowercase()] = operation(route, makings.limits);
    }
    let mut info = json!({
        "title": "Holdfast",
        "version": PLATFORM_VERSION,
        "summary": "Compliance and operational resilience for small EU financial entities.",
        "description": DESCRIPTION,
        "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
    });
    if let Some(contact) = makings.contact {
        info["contact"] = contact_object(contact);
    }
    Ok(Made::Json(json!({
        "openapi": "3.1.0",
        "info": info,
        "servers": [{ "url": makings.base_url }],
        "tags": TIERS.map(|tier| json!({ "name": tier.title() })),
        "paths": paths,
        "components": components(makings.routes),
    })))
}

const TIERS: [Tier; 4] = [Tier::Public, Tier::Service, Tier::V1, Tier::V2];

const DESCRIPTION: &str = "Three tiers: public reference data without a key, API v1 for a tenant's own data, \
    and API v2 for lists with filters. Keys travel in headers only. Every error is a JSON object with the field \
    `error`; a 422 also has `fields`, a 429 also `limit`, `window` and `retry_after` in seconds.";

/// A mail address is told from a page by its looks.
fn contact_object(contact: &str) -> Value {
    match contact {
        url if url.starts_with("http://") || url.starts_with("https://") => json!({ "url": url }),
        mail if mail.contains('@') => json!({ "email": mail }),
        name => json!({ "name": name }),
    }
}

fn operation(route: &Route, limits: Option<&Limits>) -> Value {
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.says,
        "tags": [route.tier.title()],
        "security": security(route.tier),
        "x-data-scope": route.handler.scope().name(),
        "responses": responses(route),
    });
    if let Some(permission) = route.needs {
        operation["x-permission"] = json!(permission.name());
    }
    if let (Some(class), Some(limits)) = (route.tier.limit_class(), limits) {
        operation["x-rate-limit"] = rate_limit(class, limits.rules(class));
    }
    if route.extension {
        operation["x-extension"] = json!(true);
    }
    if !route.handler.is_available() {
        operation["x-available"] = json!(false);
    }
    let parameters: Vec<Value> =
        path_parameter(route.path).into_iter().chain(route.asks.iter().map(parameter)).collect();
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    if let Some(form) = route.takes {
        operation["requestBody"] = json!({
            "required": !route.optional_body,
            "content": { "application/json": { "schema": reference_to(form.name) } },
        });
    }
    operation
}

/// `GET /api/v1/dora/measures/{id}` is called `get_v1_dora_measures_id`.
fn operation_id(route: &Route) -> String {
    let words = route.path.trim_start_matches("/api").replace(['/', '-', '.'], "_").replace(['{', '}'], "");
    format!("{}{}", route.verb.name().to_lowercase(), if words.is_empty() { "_index".into() } else { words })
}

fn security(tier: Tier) -> Value {
    match tier.credentials() {
        Credentials::None => json!([]),
        Credentials::Bearer => json!([{ "bearer": [] }]),
        Credentials::BearerOrHeader => json!([{ "bearer": [] }, { "apiKey": [] }]),
    }
}

fn rate_limit(class: LimitClass, rules: &Rules) -> Value {
    json!({ "class": class.name(), "standard": rules.standard, "burst": rules.burst, "window_seconds": 60 })
}

fn path_parameter(path: &str) -> Option<Value> {
    let name = path.split_once('{')?.1.split_once('}')?.0;
    Some(json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
}

fn parameter(param: &Param) -> Value {
    let schema = match param.kind {
        ParamKind::Limit => json!({ "type": "integer", "minimum": 1, "default": 50 }),
        ParamKind::Offset => json!({ "type": "integer", "minimum": 0, "default": 0 }),
        ParamKind::Text { max_chars } => json!({ "type": "string", "maxLength": max_chars }),
        ParamKind::Choice(of) => json!({ "type": "string", "enum": of }),
        ParamKind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
    };
    json!({ "name": param.name, "in": "query", "description": param.says, "schema": schema })
}

fn responses(route: &Route) -> Value {
    let mut responses = Map::new();
    let success = route.gives.status().to_string();
    let content = match route.gives {
        Gives::Nothing => None,
        Gives::Csv => Some(json!({ "text/csv": { "schema": { "type": "string" } } })),
        Gives::Item | Gives::List | Gives::Created | Gives::CreatedOrShown => {
            Some(json!({ "application/json": { "schema": success_schema(route) } }))
        }
    };
    let mut answer = json!({ "description": "Success." });
    if let Some(content) = content {
        answer["content"] = content;
    }
    if let Some(status) = route.gives.also() {
        responses.insert(status.to_string(), answer.clone());
    }
    responses.insert(success, answer);
    for (status, name) in error_responses(route) {
        responses.insert(status.into(), json!({ "$ref": format!("#/components/responses/{name}") }));
    }
    Value::Object(responses)
}

fn success_schema(route: &Route) -> Value {
    match (route.tier, route.gives) {
        (_, Gives::List) => reference_to("List"),
        (Tier::V1, _) => reference_to("Item"),
        (Tier::Public, _) if route.path == "/api/stats" => reference_to("Statistics"),
        (Tier::Public | Tier::Service | Tier::V2 | Tier::Page | Tier::Asset, _) => {
            json!({ "type": "object" })
        }
    }
}

fn error_responses(route: &Route) -> Vec<(&'static str, &'static str)> {
    let mut errors = Vec::new();
    if route.tier.credentials() != Credentials::None {
        errors.extend([
            ("401", "NoKey"),
            ("403", "NotAllowed"),
            ("404", "NotFound"),
            ("422", "Invalid"),
            ("429", "TooMany"),
        ]);
    }
    if route.takes.is_some() {
        errors.push(("413", "TooLarge"));
    }
    errors.push(("500", "Internal"));
    if !route.handler.is_available() {
        errors.push(("501", "NotYet"));
    }
    errors
}

fn components(routes: &[Route]) -> Value {
    let mut schemas = Map::new();
    for form in routes.iter().filter_map(|route| route.takes) {
        schemas.entry(form.name).or_insert_with(|| form_schema(form));
    }
    for (name, schema) in shared_schemas() {
        schemas.insert(name.into(), schema);
    }
    json!({
        "securitySchemes": {
            "bearer": { "type": "http", "scheme": "bearer", "description": "An API key: `hfast_` and 38 characters." },
            "apiKey": { "type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key; API v1 only." },
        },
        "schemas": schemas,
        "responses": {
            "NoKey": error_response("No key, or none that counts.", "Error"),
            "NotAllowed": error_response("The key lacks the permission.", "Error"),
            "NotFound": error_response("It does not exist for this caller.", "Error"),
            "TooLarge": error_response("The body is larger than 256 KiB.", "Error"),
            "Invalid": error_response("The request does not fit; every fault is named.", "ValidationError"),
            "TooMany": error_response("The rate limit was hit.", "RateLimitError"),
            "Internal": error_response("The server is at fault.", "Error"),
            "NotYet": error_response("This build has no code for the route yet.", "Error"),
        },
    })
}

fn shared_schemas() -> Vec<(&'static str, Value)> {
    let text = json!({ "type": "string" });
    let count = json!({ "type": "integer", "minimum": 0 });
    vec![
        ("Error", json!({ "type": "object", "required": ["error"], "properties": { "error": text } })),
        (
            "ValidationError",
            json!({
                "type": "object", "required": ["error", "fields"],
                "properties": { "error": text, "fields": { "type": "object", "additionalProperties": text } },
            }),
        ),
        (
            "RateLimitError",
            json!({
                "type": "object", "required": ["error", "limit", "window", "retry_after"],
                "properties": {
                    "error": text, "limit": { "type": "integer" }, "window": { "type": "string", "pattern": "^[0-9]+s$" },
                    "retry_after": { "type": "integer", "minimum": 1, "description": "Seconds to wait." },
                },
            }),
        ),
        (
            "Item",
            json!({
                "type": "object", "required": ["data", "meta"],
                "properties": { "data": {}, "meta": { "type": "object", "required": ["version"], "properties": { "version": text } } },
            }),
        ),
        (
            "List",
            json!({
                "type": "object", "required": ["data", "meta"],
                "properties": {
                    "data": { "type": "array", "items": { "type": "object" } },
                    "meta": {
                        "type": "object", "required": ["count", "total", "limit", "offset", "version"],
                        "properties": { "count": count, "total": count, "limit": count, "offset": count, "version": text },
                    },
                },
            }),
        ),
        (
            "Statistics",
            json!({
                "type": "object",
                "required": ["modules", "measures", "evidence", "radar_signals", "routes_count", "platform_version"],
                "properties": {
                    "modules": count, "measures": count, "evidence": count, "radar_signals": count,
                    "routes_count": count, "platform_version": text,
                },
            }),
        ),
    ]
}

fn error_response(description: &str, schema: &str) -> Value {
    json!({ "description": description, "content": { "application/json": { "schema": reference_to(schema) } } })
}

fn reference_to(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn form_schema(form: &Form) -> Value {
    let mut properties = Map::new();
    for field in form.fields {
        properties.insert(field.name.into(), field_schema(field));
    }
    for name in form.read_only {
        properties.insert(
            (*name).into(),
            json!({ "readOnly": true, "description": "Shown, never set: ignored in a write." }),
        );
    }
    let required: Vec<&str> =
        form.fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn field_schema(field: &Field) -> Value {
    let kind = |name: &str| if field.nullable { json!([name, "null"]) } else { json!(name) };
    let mut schema = match field.kind {
        Kind::Text { max_chars } => json!({ "type": kind("string"), "maxLength": max_chars }),
        Kind::Uri { max_chars } => json!({ "type": kind("string"), "format": "uri", "maxLength": max_chars }),
        Kind::Integer { min, max } => json!({ "type": kind("integer"), "minimum": min, "maximum": max }),
        Kind::Switch if field.nullable => json!({ "enum": [true, false, 0, 1, "0", "1", null] }),
        Kind::Switch => json!({ "enum": [true, false, 0, 1, "0", "1"] }),
        Kind::Choice(of) => {
            let mut words: Vec<Value> = of.iter().map(|word| json!(word)).collect();
            words.extend(field.nullable.then_some(Value::Null));
            json!({ "enum": words })
        }
        Kind::Codes(of) => json!({
            "type": "array", "uniqueItems": true, "items": { "type": "string", "enum": of },
        }),
        Kind::Number { min, max } => json!({ "type": kind("number"), "minimum": min, "maximum": max }),
        Kind::Day => json!({ "type": kind("string"), "format": "date" }),
        Kind::Time => json!({ "type": kind("string"), "format": "date-time" }),
        Kind::Texts { max_items, max_chars } => json!({
            "type": kind("array"), "maxItems": max_items, "uniqueItems": true,
            "items": { "type": "string", "minLength": 1, "maxLength": max_chars },
        }),
        Kind::Capitals { chars, digits } => {
            let letters = if digits { "A-Z0-9" } else { "A-Z" };
            json!({ "type": kind("string"), "pattern": format!("^[{letters}]{{{chars}}}$") })
        }
        Kind::Record(of) => {
            let mut schema = form_schema(of);
            schema["type"] = kind("object");
            schema
        }
        Kind::Records { of, max_items } => {
            json!({ "type": kind("array"), "maxItems": max_items, "items": form_schema(of) })
        }
        Kind::Shaped { pattern, .. } => json!({ "type": kind("string"), "pattern": pattern }),
        Kind::Keyed { of, max_items, .. } => json!({
            "type": kind("array"), "maxItems": max_items, "items": form_schema(of),
        }),
        Kind::Choices(of) => json!({
            "type": "array", "minItems": 1, "uniqueItems": true, "items": { "type": "string", "enum": of },
        }),
    };
    if matches!(field.kind, Kind::Text { .. }) && field.is_never_blank() {
        schema["minLength"] = json!(1);
        schema["pattern"] = json!("\\S");
    }
    schema["description"] = json!(field.says);
    schema
}
