//! What a route answers with when all is well: its schema and an example, from the row's shape and
//! the envelope of its tier. The OpenAPI document and the documentation page both read it here.

use super::schema::Schemas;
use crate::app::PLATFORM_VERSION;
use crate::domain::form::{Field, Form, Kind};
use crate::error::Error;
use crate::http::envelope::{V1_VERSION, V2_VERSION};
use crate::http::route::{Gives, Handler, Made, Makings, Route, Tier};
use crate::reference::{Dataset, dataset};
use crate::shape::{Is, Shape, Shown, text, whole};
use serde_json::{Map, Value, json};

const VERSION: Shown = text("version").says("The version of the contract.");
const COUNT: Shown = whole("count").says("Items in this answer.");
const TOTAL: Shown = whole("total").says("Items that match, on all pages.");
static ITEM_META: Shape = Shape { name: "ItemMeta", fields: &[VERSION] };
static ALL_META: Shape = Shape { name: "WholeListMeta", fields: &[VERSION, COUNT, TOTAL] };
static LIST_META: Shape = Shape {
    name: "ListMeta",
    fields: &[
        COUNT,
        TOTAL,
        whole("limit").says("Items per page, as applied."),
        whole("offset").says("Items left out before the first, as applied."),
        VERSION,
    ],
};
static PUBLIC_META: Shape = Shape {
    name: "PublicListMeta",
    fields: &[COUNT, VERSION, Shown::new("updated_on", Is::Day).says("When the data were last checked.")],
};

/// The dataset that a row serves as it is.
fn whole_dataset(route: &Route) -> Option<&'static Dataset> {
    match route.handler {
        Handler::Whole(dataset) => Some(dataset),
        Handler::Once(_)
        | Handler::Service(_)
        | Handler::Shared(_)
        | Handler::Filtered(_)
        | Handler::Tenant(_)
        | Handler::Beside(_)
        | Handler::Platform(_)
        | Handler::Open(_)
        | Handler::Signed(..)
        | Handler::Guest(_)
        | Handler::Later(_) => None,
    }
}

/// The schema of a row's success; any object where a later release will say.
pub fn schema(route: &Route, schemas: &mut Schemas) -> Value {
    if let Some(dataset) = whole_dataset(route) {
        let items = schemas.of_shape(dataset.shape);
        let meta = schemas.of_shape(&PUBLIC_META);
        let mut schema = envelope(json!({ "type": "array", "items": items }), meta);
        let beside = schemas.object(dataset.beside);
        for field in dataset.beside {
            schema["properties"][field.name] = beside["properties"][field.name].clone();
            if let Some(required) = schema["required"].as_array_mut() {
                required.push(json!(field.name));
            }
        }
        return schema;
    }
    let data = match route.shows {
        Some(shape) => schemas.of_shape(shape),
        None => json!({ "type": "object" }),
    };
    match (route.tier, route.gives) {
        (_, Gives::List) => {
            let meta = list_meta(route, schemas);
            envelope(json!({ "type": "array", "items": data }), meta)
        }
        (_, Gives::All) => {
            let meta = schemas.of_shape(&ALL_META);
            envelope(json!({ "type": "array", "items": data }), meta)
        }
        (Tier::V1, _) => {
            let meta = schemas.of_shape(&ITEM_META);
            envelope(data, meta)
        }
        (Tier::Public | Tier::Service | Tier::V2 | Tier::Page | Tier::Workspace | Tier::Asset, _) => data,
    }
}

fn list_meta(route: &Route, schemas: &mut Schemas) -> Value {
    let meta = schemas.of_shape(&LIST_META);
    if route.meta.is_empty() {
        return meta;
    }
    json!({ "allOf": [meta, schemas.object(route.meta)] })
}

fn envelope(data: Value, meta: Value) -> Value {
    json!({ "type": "object", "required": ["data", "meta"], "properties": { "data": data, "meta": meta } })
}

/// The dataset whose records a row shows, whole or in pages.
fn shown_dataset(route: &Route) -> Option<&'static Dataset> {
    whole_dataset(route).or_else(|| {
        let shape = route.shows?;
        dataset::ALL.iter().copied().find(|dataset| std::ptr::eq(dataset.shape, shape))
    })
}

/// An answer as it may look: the real one in short where it is always the same, the first record of the data
/// where there are some, else what the row's shape tells.
pub fn example(route: &Route, makings: &Makings) -> Result<Option<Value>, Error> {
    if let (Handler::Once(make), true) = (route.handler, route.path != super::DOCUMENT_PATH)
        && let Made::Json(mut whole) = make(makings)?
    {
        shorten(&mut whole);
        return Ok(Some(whole));
    }
    let dataset = shown_dataset(route);
    let first = match dataset {
        Some(dataset) => makings.reference.table(dataset)?.first(),
        None => None,
    };
    let data = match (first, route.shows) {
        (Some(bytes), _) => serde_json::from_slice(bytes).ok(),
        (None, Some(shape)) => Some(shape.example()),
        (None, None) => None,
    };
    Ok(data.map(|mut data| {
        shorten(&mut data);
        enveloped(route, dataset, data)
    }))
}

fn enveloped(route: &Route, dataset: Option<&Dataset>, data: Value) -> Value {
    let version = if route.tier == Tier::V2 { V2_VERSION } else { V1_VERSION };
    match (route.tier, route.gives, dataset) {
        (Tier::Public, _, Some(dataset)) => {
            let meta = json!({ "count": 1, "version": PLATFORM_VERSION, "updated_on": "2026-11-01" });
            let mut body = json!({ "data": [data], "meta": meta });
            for field in dataset.beside {
                body[field.name] = field.example();
            }
            body
        }
        (_, Gives::List, _) => {
            let mut meta = json!({ "count": 1, "total": 1, "limit": 50, "offset": 0, "version": version });
            for field in route.meta {
                meta[field.name] = field.example();
            }
            json!({ "data": [data], "meta": meta })
        }
        (_, Gives::All, _) => {
            json!({ "data": [data], "meta": { "version": version, "count": 1, "total": 1 } })
        }
        (Tier::V1, _, _) => json!({ "data": data, "meta": { "version": version } }),
        (Tier::Public | Tier::Service | Tier::V2 | Tier::Page | Tier::Workspace | Tier::Asset, _, _) => data,
    }
}

/// Lists are cut to their first item: an example is read by people.
fn shorten(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.truncate(1);
            items.iter_mut().for_each(shorten);
        }
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A body as it may look: what must be there, and what the rows have a telling value for.
pub fn body_example(form: &Form) -> Value {
    let told = |field: &&Field| field.required || !matches!(field.such_as, "" | "null");
    let fields = form.fields.iter().filter(told);
    let pairs: Map<String, Value> =
        fields.map(|field| (field.name.to_owned(), field_example(field))).collect();
    if !pairs.is_empty() {
        return Value::Object(pairs);
    }
    // A form of which nothing must be there: its first field tells more than an empty object.
    let first = form.fields.first().map(|field| (field.name.to_owned(), field_example(field)));
    Value::Object(first.into_iter().collect())
}

fn field_example(field: &Field) -> Value {
    if let Kind::Choices(of) = field.kind {
        return json!(of.first().into_iter().collect::<Vec<_>>());
    }
    field.shown().example()
}
