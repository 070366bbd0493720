//! API keys.

use crate::clock::rfc3339;
use crate::error::Error;
use crate::http::envelope::v1_item;
use crate::http::{Answer, Reply, Request};
use crate::store::Tenant;
use serde_json::{Value, json};

/// Makes a key and shows it, this once.
pub fn create(request: &Request, tenant: &Tenant) -> Answer {
    let name = request.body.text("name").ok_or_else(|| Error::field("name", "is required"))?;
    let (key, secret) = tenant.create_key(name, &request.caller()?.key)?;
    let data = json!({
        "id": key.id,
        "name": key.name,
        "key": secret.reveal(),
        "prefix": key.prefix,
        "permissions": key.permissions.names(),
        "created_at": rfc3339(key.created_at_ms),
        "expires_at": key.expires_at_ms.map(rfc3339),
        "redirect_to": request.body.get("redirect_to").unwrap_or(&Value::Null),
    });
    // Only what answers a GET is ever kept, so this carries `no-store`.
    Ok(Reply::created(&v1_item(data)))
}
