//! What a key may do beyond reading. Neither permission includes the other.

use std::fmt;

/// One permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// Change the tenant's data.
    Write,
    /// Create keys.
    ManageKeys,
}

impl Permission {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Permission; 2] = [Permission::Write, Permission::ManageKeys];

    /// The name used in requests, rows and answers.
    pub fn name(self) -> &'static str {
        match self {
            Permission::Write => "write",
            Permission::ManageKeys => "manage_keys",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Permission> {
        Permission::ALL.into_iter().find(|permission| permission.name() == name)
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.name())
    }
}

/// The permissions of one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    write: bool,
    manage_keys: bool,
}

impl Permissions {
    /// Every permission there is.
    pub fn all() -> Permissions {
        Permissions { write: true, manage_keys: true }
    }

    /// Adds one.
    pub fn with(mut self, permission: Permission) -> Permissions {
        *self.slot(permission) = true;
        self
    }

    /// Takes one away.
    pub fn without(mut self, permission: Permission) -> Permissions {
        *self.slot(permission) = false;
        self
    }

    /// Is it held?
    pub fn has(self, permission: Permission) -> bool {
        match permission {
            Permission::Write => self.write,
            Permission::ManageKeys => self.manage_keys,
        }
    }

    /// The held names, in the order of `Permission::ALL`.
    pub fn names(self) -> Vec<&'static str> {
        Permission::ALL.into_iter().filter(|each| self.has(*each)).map(Permission::name).collect()
    }

    /// As stored and as typed on the command line: names with commas; empty means none.
    pub fn to_list(self) -> String {
        self.names().join(",")
    }

    /// Reads such a list; an unknown name is the error.
    pub fn parse_list(list: &str) -> Result<Permissions, String> {
        let mut permissions = Permissions::default();
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let permission = Permission::parse(name).ok_or_else(|| {
                let known = Permission::ALL.map(Permission::name).join(", ");
                format!("`{name}` is no permission; there are: {known}")
            })?;
            permissions = permissions.with(permission);
        }
        Ok(permissions)
    }

    fn slot(&mut self, permission: Permission) -> &mut bool {
        match permission {
            Permission::Write => &mut self.write,
            Permission::ManageKeys => &mut self.manage_keys,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_back_as_written_and_unknown_names_are_refused() {
        let both = Permissions::parse_list("manage_keys, write").unwrap();
        assert_eq!(both, Permissions::all());
        assert_eq!(both.to_list(), "write,manage_keys");
        assert_eq!(Permissions::parse_list("").unwrap(), Permissions::default());
        assert!(Permissions::parse_list("write,admin").unwrap_err().contains("`admin`"));
    }
}
