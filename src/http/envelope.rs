//! The envelopes of lists and records: `data` and `meta`, as v1 and v2 write them.

use super::reply::{Answer, Reply};
use crate::domain::page::Page;
use crate::domain::query::Query;
use crate::error::Error;
use crate::payload::digest;
use crate::reference::{Selection, Table};
use crate::store::{Listed, Records};
use serde::Serialize;
use serde_json::{Value, json};

/// The label of the v1 contract: a date.
pub const V1_VERSION: &str = "2026-11-01";
/// The label of v2.
pub const V2_VERSION: &str = "2.0";

/// One object in the v1 envelope.
pub fn v1_item(data: Value) -> Value {
    json!({ "data": data, "meta": { "version": V1_VERSION } })
}

/// A page of stored objects in the v1 envelope.
pub fn v1_list<T: Serialize>(listed: &Listed<T>) -> Answer {
    v1_list_with(listed, json!({}))
}

/// Likewise, with more in `meta` than every list has.
pub fn v1_list_with<T: Serialize>(listed: &Listed<T>, more: Value) -> Answer {
    stored_page(listed, V1_VERSION, more)
}

/// A page of stored objects in the v2 envelope.
pub fn v2_list<T: Serialize>(listed: &Listed<T>) -> Answer {
    stored_page(listed, V2_VERSION, json!({}))
}

/// The page of a whole list that was worked out for this request, in the v2 envelope.
pub fn v2_slice<T: Serialize>(mut whole: Vec<T>, query: &Query) -> Answer {
    let (page, total) = (query.page(), whole.len());
    let items: Vec<T> = whole.drain(page.range(total)).collect();
    v2_list(&Listed { items, total: total as u64, page })
}

fn stored_meta(version: &str, count: usize, total: u64, page: Page) -> Value {
    json!({
        "version": version,
        "count": count,
        "total": total,
        "limit": page.limit,
        "offset": page.offset,
    })
}

fn stored_page<T: Serialize>(listed: &Listed<T>, version: &str, more: Value) -> Answer {
    let mut meta = stored_meta(version, listed.items.len(), listed.total, listed.page);
    if let (Some(meta), Value::Object(more)) = (meta.as_object_mut(), more) {
        meta.extend(more);
    }
    let mut out = Vec::with_capacity(64 + 768 * listed.items.len());
    out.extend_from_slice(br#"{"data":"#);
    serde_json::to_writer(&mut out, &listed.items)
        .map_err(|cause| Error::internal("writing a page", cause))?;
    out.extend_from_slice(format!(r#","meta":{meta}}}"#).as_bytes());
    Ok(Reply::json_bytes(out))
}

/// What stands before the first record of a list.
pub const LIST_BEGIN: &[u8] = b"{\"data\":[";

/// The v1 envelope around records that were written behind [`LIST_BEGIN`].
pub fn v1_records(records: Records) -> Reply {
    let meta = stored_meta(V1_VERSION, records.count, records.total, records.page);
    let mut out = records.json;
    out.extend_from_slice(format!(r#"],"meta":{meta}}}"#).as_bytes());
    Reply::json_bytes(out)
}

/// A record that is JSON already, in the v1 envelope.
pub fn v1_record(record: &[u8]) -> Reply {
    let meta = json!({ "version": V1_VERSION });
    Reply::json_bytes(wrap(record.len(), &meta, |out| out.extend_from_slice(record), false))
}

/// A page of a dataset in the v1 envelope.
pub fn v1_page(query: &Query, table: &Table) -> Reply {
    page(query, table, |selection| {
        json!({
            "version": V1_VERSION,
            "count": selection.count(),
            "total": selection.total,
            "limit": selection.page.limit,
            "offset": selection.page.offset,
        })
    })
}

/// A page of a dataset in the v2 envelope.
pub fn v2_page(query: &Query, table: &Table) -> Reply {
    page(query, table, |selection| {
        json!({
            "count": selection.count(),
            "total": selection.total,
            "limit": selection.page.limit,
            "offset": selection.page.offset,
            "version": V2_VERSION,
        })
    })
}

/// The digest is made from what the page is made from, so that a 304 costs no page.
fn page(query: &Query, table: &Table, meta: impl Fn(&Selection) -> Value) -> Reply {
    let selection = table.select(query);
    let meta = meta(&selection);
    let tag = digest(&[table.payload.digest.as_bytes(), query.canonical().as_bytes(), V1_VERSION.as_bytes()]);
    Reply::json_bytes(wrap(selection.size_hint(), &meta, |out| selection.write_records(out), true))
        .with_digest(tag)
}

fn wrap(size_hint: usize, meta: &Value, data: impl FnOnce(&mut Vec<u8>), is_list: bool) -> Vec<u8> {
    let meta = meta.to_string();
    let mut out = Vec::with_capacity(size_hint + meta.len() + 24);
    out.extend_from_slice(if is_list { LIST_BEGIN } else { b"{\"data\":" });
    data(&mut out);
    out.extend_from_slice(if is_list { b"],\"meta\":" } else { b",\"meta\":" });
    out.extend_from_slice(meta.as_bytes());
    out.push(b'}');
    out
}
