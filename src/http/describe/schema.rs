//! JSON schemas of forms and shapes, for the OpenAPI document. It adds no facts: each is a row's.

use crate::domain::form::{Field, Form, Kind};
use crate::domain::query::{Param, ParamKind};
use crate::shape::{Is, Shape, Shown};
use serde_json::{Map, Value, json};

/// The named schemas of a document, gathered while it is written.
#[derive(Default)]
pub struct Schemas(pub Map<String, Value>);

impl Schemas {
    /// A reference to a shape's schema, which is written if it is not there yet.
    pub fn of_shape(&mut self, shape: &Shape) -> Value {
        if !self.0.contains_key(shape.name) {
            // The place is taken first, so that the order is that of the first use.
            self.0.insert(shape.name.into(), Value::Null);
            let schema = self.object(shape.fields);
            self.0.insert(shape.name.into(), schema);
        }
        reference_to(shape.name)
    }

    /// A reference to a form's schema.
    pub fn of_form(&mut self, form: &Form) -> Value {
        if !self.0.contains_key(form.name) {
            self.0.insert(form.name.into(), form_schema(form));
        }
        reference_to(form.name)
    }

    /// An object with these fields, written where it stands. A client may meet more: additions are allowed.
    pub fn object(&mut self, fields: &[Shown]) -> Value {
        let mut properties = Map::new();
        for field in fields {
            properties.insert(field.name.into(), self.field(field));
        }
        let required: Vec<&str> =
            fields.iter().filter(|field| !field.optional).map(|field| field.name).collect();
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }

    fn field(&mut self, field: &Shown) -> Value {
        let mut schema = self.is(&field.is, field.nullable);
        if !field.says.is_empty() {
            schema["description"] = json!(field.says);
        }
        schema
    }

    fn is(&mut self, is: &Is, nullable: bool) -> Value {
        let kind = |name: &str| kind(name, nullable);
        match is {
            Is::Text => json!({ "type": kind("string") }),
            Is::Id(prefix) => {
                json!({ "type": kind("string"), "pattern": format!("^{prefix}_[0-9A-HJKMNP-TV-Z]{{26}}$") })
            }
            Is::Day => json!({ "type": kind("string"), "format": "date" }),
            Is::Time => json!({ "type": kind("string"), "format": "date-time" }),
            Is::Whole => json!({ "type": kind("integer"), "minimum": 0 }),
            Is::Number => json!({ "type": kind("number") }),
            Is::Percent => json!({ "type": kind("number"), "minimum": 0, "maximum": 100 }),
            Is::Flag => json!({ "type": kind("boolean") }),
            Is::Word(of) => words(of, nullable),
            Is::Words(of) => json!({ "type": kind("array"), "items": words(of, false) }),
            Is::List(of) => json!({ "type": kind("array"), "items": self.is(of, false) }),
            Is::Keyed(of) => json!({ "type": kind("object"), "additionalProperties": self.is(of, false) }),
            Is::Anything => json!({ "type": kind("object") }),
            Is::Record(shape) if nullable => json!({ "anyOf": [self.of_shape(shape), { "type": "null" }] }),
            Is::Record(shape) => self.of_shape(shape),
        }
    }
}

/// A pointer to a named schema.
pub fn reference_to(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

/// What a query parameter may hold.
pub fn param_schema(param: &Param) -> Value {
    match param.kind {
        ParamKind::Limit => json!({ "type": "integer", "minimum": 1, "default": 50 }),
        ParamKind::Offset => json!({ "type": "integer", "minimum": 0, "default": 0 }),
        ParamKind::Text { max_chars } => json!({ "type": "string", "maxLength": max_chars }),
        ParamKind::Needed { max_chars } => {
            json!({ "type": "string", "minLength": 1, "maxLength": max_chars, "pattern": "\\S" })
        }
        ParamKind::Choice(of) => json!({ "type": "string", "enum": of }),
        ParamKind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        ParamKind::Day => json!({ "type": "string", "format": "date" }),
    }
}

fn kind(name: &str, nullable: bool) -> Value {
    if nullable { json!([name, "null"]) } else { json!(name) }
}

fn words(of: &[&str], nullable: bool) -> Value {
    let mut words: Vec<Value> = of.iter().map(|word| json!(word)).collect();
    words.extend(nullable.then_some(Value::Null));
    json!({ "type": kind("string", nullable), "enum": words })
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
    let kind = |name: &str| kind(name, field.nullable);
    let mut schema = match field.kind {
        Kind::Text { max_chars } => json!({ "type": kind("string"), "maxLength": max_chars }),
        Kind::Uri { max_chars } => json!({ "type": kind("string"), "format": "uri", "maxLength": max_chars }),
        Kind::Integer { min, max } => json!({ "type": kind("integer"), "minimum": min, "maximum": max }),
        Kind::Switch if field.nullable => json!({ "enum": [true, false, 0, 1, "0", "1", null] }),
        Kind::Switch => json!({ "enum": [true, false, 0, 1, "0", "1"] }),
        Kind::Choice(of) => words(of, field.nullable),
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
        Kind::Records { of, max_items } | Kind::Keyed { of, max_items, .. } => {
            json!({ "type": kind("array"), "maxItems": max_items, "items": form_schema(of) })
        }
        Kind::Shaped { pattern, .. } => json!({ "type": kind("string"), "pattern": pattern }),
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
