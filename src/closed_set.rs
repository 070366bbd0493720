//! Closed sets of words: an enum, its names, and nothing beside them.
//!
//! `build.rs` compiles this file too, so it uses nothing of the house but shapes.

/// Declares an enum whose variants are words in data, rows and requests, read and written by name.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $(#[doc = $word] #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every word of the set.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// The word.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            /// Reads a word.
            pub fn parse(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)+ _ => None }
            }
        }

        impl crate::shape::Typed for $name {
            const IS: crate::shape::Is = crate::shape::Is::Word($name::NAMES);
        }
    };
}
