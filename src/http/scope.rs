//! Whose data a route touches.

/// The data scopes of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Reference data common to all callers.
    Shared,
    /// Platform-level data.
    Platform,
    /// Data of the tenant that owns the key.
    Tenant,
}

impl Scope {
    /// Its name in the specification.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Shared => "shared-reference-data",
            Scope::Platform => "platform-wide",
            Scope::Tenant => "api-key-tenant",
        }
    }
}
