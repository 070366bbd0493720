//! Shapes: what an answer holds, as rows; the twin of the forms, which say what a body may hold.
//!
//! One row per field feeds the OpenAPI document, the documentation page and the test that
//! holds real answers against the document. A record of the reference data needs no rows: they are read
//! from its type. `build.rs` compiles this file too, so it uses nothing of the house.

use serde_json::{Map, Value, json};

/// One kind of object.
#[derive(Debug)]
pub struct Shape {
    /// Name of the schema in the OpenAPI document.
    pub name: &'static str,
    /// Its fields, in the order in which they are shown.
    pub fields: &'static [Shown],
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub is: Is,
    /// May it be null?
    pub nullable: bool,
    /// May it be absent?
    pub optional: bool,
    /// One sentence for people.
    pub says: &'static str,
    /// A value as it may look, in JSON; empty where the kind tells enough.
    pub such_as: &'static str,
}

/// What a field is.
#[derive(Clone, Copy, Debug)]
pub enum Is {
    /// Text.
    Text,
    /// Our own identifier: a prefix and 26 characters.
    Id(&'static str),
    /// A day, `2026-11-15`.
    Day,
    /// A moment, `2026-11-15T08:00:00Z`.
    Time,
    /// A whole number from 0.
    Whole,
    /// A number.
    Number,
    /// 0 to 100, with at most one decimal.
    Percent,
    /// true or false.
    Flag,
    /// One of a closed set of words.
    Word(&'static [&'static str]),
    /// Some of a closed set of words.
    Words(&'static [&'static str]),
    /// A list.
    List(&'static Is),
    /// An object.
    Record(&'static Shape),
    /// An object whose field names are data.
    Keyed(&'static Is),
    /// Any object; its shape is not ours to say.
    Anything,
}

/// Types whose values are shown as they are.
pub trait Typed {
    /// What they are.
    const IS: Is;
    /// The same, to point to.
    const LISTED: &'static Is = &Self::IS;
    /// May they be null?
    const NULLABLE: bool = false;
}

macro_rules! typed {
    ($($kind:ty => $is:expr),+ $(,)?) => { $(impl Typed for $kind { const IS: Is = $is; })+ };
}
typed! { String => Is::Text, bool => Is::Flag, u8 => Is::Whole, u32 => Is::Whole, usize => Is::Whole }

impl<T: Typed> Typed for Vec<T> {
    const IS: Is = Is::List(T::LISTED);
}
impl<T: Typed> Typed for Option<T> {
    const IS: Is = T::IS;
    const NULLABLE: bool = true;
}

/// Reads the shape of a struct from its fields.
macro_rules! shape_of {
    ($name:ident { $($field:ident: $kind:ty),+ $(,)? }) => {
        impl $name {
            /// What it looks like when it is shown.
            pub const SHAPE: &'static crate::shape::Shape = &crate::shape::Shape {
                name: stringify!($name),
                fields: &[$(crate::shape::Shown::typed::<$kind>(stringify!($field))),+],
            };
        }

        impl crate::shape::Typed for $name {
            const IS: crate::shape::Is = crate::shape::Is::Record($name::SHAPE);
        }
    };
}

impl Shown {
    /// A field that is always there and never null.
    pub const fn new(name: &'static str, is: Is) -> Shown {
        Shown { name, is, nullable: false, optional: false, says: "", such_as: "" }
    }

    /// A field of a type.
    pub const fn typed<T: Typed>(name: &'static str) -> Shown {
        let mut field = Shown::new(name, T::IS);
        field.nullable = T::NULLABLE;
        field
    }

    /// It may be null.
    pub const fn nullable(mut self) -> Shown {
        self.nullable = true;
        self
    }

    /// It may be absent.
    pub const fn optional(mut self) -> Shown {
        self.optional = true;
        self
    }

    /// What it means.
    pub const fn says(mut self, sentence: &'static str) -> Shown {
        self.says = sentence;
        self
    }

    /// A value as it may look, in JSON.
    pub const fn such_as(mut self, json: &'static str) -> Shown {
        self.such_as = json;
        self
    }

    /// A value as it may look.
    pub fn example(&self) -> Value {
        serde_json::from_str(self.such_as).unwrap_or_else(|_| self.is.example())
    }
}

impl Is {
    fn example(&self) -> Value {
        match self {
            Is::Text => json!("text"),
            Is::Id(prefix) => json!(format!("{prefix}_01K9Z3T7Q4W8XE5RB2N6MHVC0D")),
            Is::Day => json!("2026-11-15"),
            Is::Time => json!("2026-11-15T08:00:00Z"),
            Is::Whole => json!(3),
            Is::Number => json!(7.5),
            Is::Percent => json!(62.5),
            Is::Flag => json!(true),
            Is::Word(of) => json!(of.first()),
            Is::Words(of) => json!(of.first().into_iter().collect::<Vec<_>>()),
            Is::List(of) => json!([of.example()]),
            Is::Record(shape) => shape.example(),
            Is::Keyed(of) => json!({ "name": of.example() }),
            Is::Anything => json!({}),
        }
    }
}

impl Shape {
    /// An object as it may look; what may be absent is.
    pub fn example(&self) -> Value {
        let shown = self.fields.iter().filter(|field| !field.optional);
        Value::Object(shown.map(|field| (field.name.to_owned(), field.example())).collect::<Map<_, _>>())
    }
}

/// Text.
pub const fn text(name: &'static str) -> Shown {
    Shown::new(name, Is::Text)
}

/// A whole number.
pub const fn whole(name: &'static str) -> Shown {
    Shown::new(name, Is::Whole)
}

/// 0 to 100.
pub const fn percent(name: &'static str) -> Shown {
    Shown::new(name, Is::Percent)
}

/// true or false.
pub const fn flag(name: &'static str) -> Shown {
    Shown::new(name, Is::Flag)
}

/// A moment.
pub const fn time(name: &'static str) -> Shown {
    Shown::new(name, Is::Time)
}

/// One of a closed set of words.
pub const fn word(name: &'static str, of: &'static [&'static str]) -> Shown {
    Shown::new(name, Is::Word(of))
}

/// A list.
pub const fn list(name: &'static str, of: &'static Is) -> Shown {
    Shown::new(name, Is::List(of))
}

/// An object.
pub const fn record(name: &'static str, of: &'static Shape) -> Shown {
    Shown::new(name, Is::Record(of))
}

/// `id`, with the prefix of its kind.
pub const fn id(prefix: &'static str) -> Shown {
    Shown::new("id", Is::Id(prefix)).says("Its identifier.")
}

/// `external_id`, there if an import gave one.
pub const EXTERNAL_ID: Shown =
    text("external_id").optional().says("The identifier that an import gave it; absent without one.");
/// `created_at`.
pub const CREATED_AT: Shown = time("created_at").says("When it was made.");
/// `updated_at`.
pub const UPDATED_AT: Shown = time("updated_at").says("When it was last changed.");
