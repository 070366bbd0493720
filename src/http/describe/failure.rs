//! How requests fail: every error of the API as a row, for the OpenAPI document and its page.

use super::schema::reference_to;
use crate::http::route::{Credentials, Route};
use serde_json::{Value, json};

/// How a request to a route may fail, in the order of their statuses.
pub fn failures(route: &Route) -> Vec<&'static Failure> {
    let keyed = route.tier.credentials() != Credentials::None;
    let may = |failure: &&Failure| match failure.name {
        "TooLarge" => route.takes.is_some(),
        "NotYet" => !route.handler.is_available(),
        "Internal" => true,
        _ => keyed,
    };
    ERRORS.iter().filter(may).collect()
}

/// One way in which a request may fail.
pub struct Failure {
    /// Its name in the document.
    pub name: &'static str,
    /// The status.
    pub status: &'static str,
    /// When, in words.
    pub when: &'static str,
    /// The schema of its body.
    schema: &'static str,
    /// A sentence as it may stand in `error`.
    such_as: &'static str,
}

const fn failure(
    name: &'static str,
    status: &'static str,
    when: &'static str,
    schema: &'static str,
    such_as: &'static str,
) -> Failure {
    Failure { name, status, when, schema, such_as }
}

/// Every failure that the document knows.
pub const ERRORS: &[Failure] = &[
    failure(
        "NoKey",
        "401",
        "No key, or one that is unknown, expired or revoked.",
        "Error",
        "a valid API key is needed in the header `Authorization: Bearer <key>` (API v1 also takes `X-API-Key`)",
    ),
    failure(
        "NotAllowed",
        "403",
        "The key lacks the permission.",
        "Error",
        "this key lacks the permission `write`",
    ),
    failure("NotFound", "404", "It does not exist for this caller.", "Error", "finding not found"),
    failure(
        "TooLarge",
        "413",
        "The body is larger than 256 KiB.",
        "Error",
        "the body is too large: at most 262144 bytes are read",
    ),
    failure(
        "TooLong",
        "414",
        "Path and query are longer than 8 KiB.",
        "Error",
        "the address is too long: at most 8192 bytes are read",
    ),
    failure(
        "Invalid",
        "422",
        "The request does not fit; `fields` names every fault.",
        "ValidationError",
        "severity must be one of: critical, high, medium, low, informational",
    ),
    failure(
        "TooMany",
        "429",
        "The rate limit was hit; wait `retry_after` seconds.",
        "RateLimitError",
        "too many requests",
    ),
    failure("Internal", "500", "The server is at fault; it says no more.", "Error", "internal server error"),
    failure(
        "NotYet",
        "501",
        "This build has no code for the route yet.",
        "Error",
        "this route is not available in this build yet",
    ),
];

/// The response of a failure, as the document has it.
pub fn response(error: &Failure) -> Value {
    let mut example = json!({ "error": error.such_as });
    let mut headers = json!({ "X-Request-Id": { "$ref": "#/components/headers/X-Request-Id" } });
    match error.schema {
        "ValidationError" => {
            example["fields"] =
                json!({ "severity": "must be one of: critical, high, medium, low, informational" })
        }
        "RateLimitError" => {
            example["limit"] = json!(100);
            example["window"] = json!("60s");
            example["retry_after"] = json!(12);
            headers["Retry-After"] = json!({ "$ref": "#/components/headers/Retry-After" });
        }
        _ => {}
    }
    json!({
        "description": error.when,
        "headers": headers,
        "content": { "application/json": { "schema": reference_to(error.schema), "example": example } },
    })
}

/// The bodies of failures.
pub fn schemas() -> [(&'static str, Value); 3] {
    let text = json!({ "type": "string" });
    [
        ("Error", json!({ "type": "object", "required": ["error"], "properties": { "error": text } })),
        (
            "ValidationError",
            json!({
                "type": "object", "required": ["error", "fields"],
                "properties": {
                    "error": text,
                    "fields": { "type": "object", "description": "Field name to reason.", "additionalProperties": text },
                },
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
    ]
}
