//! The OpenAPI 3.1 document, read from the table, the forms and the shapes.

use crate::app::PLATFORM_VERSION;
use crate::domain::limit::Rules;
use crate::domain::query::Param;
use crate::error::Error;
use crate::http::describe::schema::{Schemas, param_schema};
use crate::http::describe::{answer, failure, operation_id, success_text};
use crate::http::route::{Credentials, Gives, Made, Makings, Route, Tier, Verb};
use crate::limiter::LimitClass;
use crate::shape::{Is, Shape, Shown, list, text};
use serde_json::{Map, Value, json};

/// The document itself, as far as a schema of ours says.
pub static DOCUMENT: Shape = Shape {
    name: "OpenApiDocument",
    fields: &[
        text("openapi"),
        Shown::new("info", Is::Anything),
        list("servers", &Is::Anything),
        list("tags", &Is::Anything),
        Shown::new("externalDocs", Is::Anything),
        Shown::new("paths", Is::Anything),
        Shown::new("components", Is::Anything),
    ],
};

/// `GET /api/openapi.json`
pub fn document(makings: &Makings) -> Result<Made, Error> {
    let mut paths = Map::new();
    let mut schemas = Schemas::default();
    for route in makings.routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.verb.name().to_lowercase()] = operation(route, makings, &mut schemas)?;
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
        "tags": TIERS.map(|tier| json!({ "name": tier.title(), "description": tier.says() })),
        "externalDocs": { "url": format!("{}/docs", makings.base_url), "description": "The same for people." },
        "paths": paths,
        "components": components(schemas),
    })))
}

/// The tiers of the API, in the order of the table.
pub const TIERS: [Tier; 4] = [Tier::Public, Tier::Service, Tier::V1, Tier::V2];

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

fn operation(route: &Route, makings: &Makings, schemas: &mut Schemas) -> Result<Value, Error> {
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.says,
        "tags": [route.tier.title()],
        "security": security(route.tier),
        "x-data-scope": route.handler.scope().name(),
        "responses": responses(route, makings, schemas)?,
    });
    if let Some(permission) = route.needs {
        operation["x-permission"] = json!(permission.name());
    }
    if let (Some(class), Some(limits)) = (route.tier.limit_class(), makings.limits) {
        operation["x-rate-limit"] = rate_limit(class, limits.rules(class));
    }
    if route.extension {
        operation["x-extension"] = json!(true);
    }
    if !route.handler.is_available() {
        operation["x-available"] = json!(false);
    }
    let parameters = parameters(route);
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    if let Some(form) = route.takes {
        operation["requestBody"] = json!({
            "required": !route.optional_body,
            "content": { "application/json": {
                "schema": schemas.of_form(form), "example": answer::body_example(form),
            } },
        });
    }
    Ok(operation)
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

fn parameters(route: &Route) -> Vec<Value> {
    let mut parameters: Vec<Value> = path_parameter(route.path).into_iter().collect();
    parameters.extend(route.asks.iter().map(parameter));
    if route.once {
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header",
            "description": "The same key with the same body within a day is one request; with another body a 422.",
            "schema": { "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$" },
        }));
    }
    parameters
}

fn path_parameter(path: &str) -> Option<Value> {
    let name = path.split_once('{')?.1.split_once('}')?.0;
    Some(json!({
        "name": name, "in": "path", "required": true, "description": "The object's identifier.",
        "schema": { "type": "string", "minLength": 1 },
    }))
}

fn parameter(param: &Param) -> Value {
    let mut shown = json!({
        "name": param.name, "in": "query", "description": param.says, "schema": param_schema(param),
    });
    if param.is_needed() {
        shown["required"] = json!(true);
    }
    shown
}

fn responses(route: &Route, makings: &Makings, schemas: &mut Schemas) -> Result<Value, Error> {
    let mut responses = Map::new();
    let mut answer = json!({ "description": success_text(route), "headers": headers(route) });
    match route.gives {
        Gives::Nothing => {}
        Gives::Csv => answer["content"] = json!({ "text/csv": { "schema": { "type": "string" } } }),
        Gives::Figures => answer["content"] = json!({ "text/plain": { "schema": { "type": "string" } } }),
        Gives::Item | Gives::List | Gives::All | Gives::Created | Gives::CreatedOrShown => {
            let mut content = json!({ "schema": answer::schema(route, schemas) });
            if let Some(example) = answer::example(route, makings)? {
                content["example"] = example;
            }
            answer["content"] = json!({ "application/json": content });
        }
    }
    if let Some(status) = route.gives.also() {
        let mut shown = answer.clone();
        shown["description"] = json!("The answer to a question what would be; nothing is stored.");
        if let Some(headers) = shown["headers"].as_object_mut() {
            headers.shift_remove("Location");
        }
        responses.insert(status.to_string(), shown);
    }
    // A service that is down says so with another status and the same record.
    if route.shows.is_some_and(|shape| {
        [&super::ops::HEALTH, &super::ops::HEALTH_DETAILED].iter().any(|health| std::ptr::eq(shape, *health))
    }) {
        responses.insert("503".into(), answer.clone());
    }
    responses.insert(route.gives.status().to_string(), answer);
    for failure in failure::failures(route) {
        let way = format!("#/components/responses/{}", failure.name);
        responses.insert(failure.status.into(), json!({ "$ref": way }));
    }
    responses.sort_keys();
    Ok(Value::Object(responses))
}

fn headers(route: &Route) -> Value {
    let mut names = vec!["X-Request-Id"];
    if route.verb == Verb::Get && route.tier != Tier::Service {
        names.push("ETag");
    }
    if matches!(route.gives, Gives::Created | Gives::CreatedOrShown)
        && route.shows.is_some_and(|shape| shape.name != "CreatedKey")
    {
        names.push("Location");
    }
    if route.tier == Tier::V1 {
        names.push("X-API-Version");
    }
    if route.tier.limit_class().is_some() {
        names.extend(["RateLimit", "RateLimit-Policy"]);
    }
    let refer = |name: &&str| ((*name).to_owned(), json!({ "$ref": format!("#/components/headers/{name}") }));
    Value::Object(names.iter().map(refer).collect())
}

fn components(mut schemas: Schemas) -> Value {
    for (name, schema) in failure::schemas() {
        schemas.0.insert(name.into(), schema);
    }
    let responses: Map<String, Value> =
        failure::ERRORS.iter().map(|error| (error.name.into(), failure::response(error))).collect();
    json!({
        "securitySchemes": {
            "bearer": { "type": "http", "scheme": "bearer", "description": "An API key: `hfast_` and 38 characters." },
            "apiKey": { "type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key; API v1 only." },
        },
        "schemas": schemas.0,
        "responses": responses,
        "headers": header_components(),
    })
}

fn header_components() -> Value {
    let text = |says: &str, required: bool| json!({ "description": says, "required": required, "schema": { "type": "string" } });
    json!({
        "X-Request-Id": text("The request's name in the log; your own, if it is 1 to 64 of letters, digits, `.`, `_`, `-`.", true),
        "ETag": text("Send it as `If-None-Match` to get 304 while nothing has changed.", true),
        "Location": text("The address of the new object.", true),
        "X-API-Version": text("The version of the v1 contract.", true),
        "RateLimit": text("What is left, and when there is more; absent with limits off.", false),
        "RateLimit-Policy": text("The limits in force; absent with limits off.", false),
        "Retry-After": { "description": "Seconds to wait.", "required": true, "schema": { "type": "integer", "minimum": 1 } },
    })
}
