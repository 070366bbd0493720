//! Providers of the register.

use crate::domain::query::{LIMIT, OFFSET, Param, SEARCH};
use crate::http::envelope::{v1_item, v1_list};
use crate::http::{Answer, Reply, Request};
use crate::store::Tenant;
use serde_json::json;

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[LIMIT, OFFSET, SEARCH];

/// A page of providers.
pub fn list(request: &Request, tenant: &Tenant) -> Answer {
    v1_list(&tenant.providers(&request.query)?)
}

/// One provider.
pub fn show(request: &Request, tenant: &Tenant) -> Answer {
    Ok(Reply::json(&v1_item(json!(tenant.provider(request.id())?))))
}

/// Enters a provider.
pub fn create(request: &Request, tenant: &Tenant) -> Answer {
    let provider = tenant.create_provider(request.body.clone())?;
    let place = format!("/api/v1/concentration-risk/providers/{}", provider.id);
    Ok(Reply::created(&v1_item(json!(provider))).at(&place))
}

/// Deletes a provider with whom there is no arrangement.
pub fn delete(request: &Request, tenant: &Tenant) -> Answer {
    tenant.delete_provider(request.id())?;
    Ok(Reply::empty())
}
