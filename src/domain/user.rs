//! People who sign in to the workspace, and what their role lets them do.

use super::form::{Field, Form, choice, text};

words! {
    /// What a person may do: everything, change data, or look.
    Role { Owner = "owner", Editor = "editor", Viewer = "viewer" }
}

/// A person's account, without the password.
#[derive(Clone, Debug, PartialEq)]
pub struct User {
    /// `usr_…`
    pub id: String,
    /// The tenant's name.
    pub tenant: String,
    /// What others call the person; empty until somebody says.
    pub name: String,
    /// Signs in with it; lower case, one account per address.
    pub email: String,
    /// What the person may do.
    pub role: Role,
    /// When the account was made.
    pub created_at_ms: i64,
    /// Has a password been set? Before that nobody can sign in with it.
    pub has_password: bool,
    /// When it was switched off, if it was.
    pub disabled_at_ms: Option<i64>,
}

/// An address in the one spelling in which it is stored, or what is wrong with it.
pub fn normal_email(address: &str) -> Result<String, String> {
    let address = address.trim().to_lowercase();
    let plain = |part: &str| {
        !part.is_empty() && !part.chars().any(|char| char.is_whitespace() || char.is_control() || char == '@')
    };
    match address.rsplit_once('@') {
        Some((local, domain)) if plain(local) && plain(domain) && address.len() <= 254 => Ok(address),
        Some(_) | None => Err(format!("`{address}` is no mail address; it needs the form name@domain")),
    }
}

/// What a person may do in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Look at the tenant's data and the reference library, and mind one's own profile.
    Look,
    /// Change data: programmes, test cases, findings, CRA reports, the register, thresholds, webhooks, notes.
    ChangeData,
    /// Bring people in, change their roles, switch them off.
    ManageUsers,
    /// Make and revoke API keys.
    ManageKeys,
    /// Read the audit log.
    ReadAudit,
}

impl Role {
    /// May somebody in this role do that?
    pub fn may(self, act: Act) -> bool {
        match (self, act) {
            (Role::Owner, _) | (Role::Editor | Role::Viewer, Act::Look) | (Role::Editor, Act::ChangeData) => {
                true
            }
            (Role::Editor, Act::ManageUsers | Act::ManageKeys | Act::ReadAudit)
            | (Role::Viewer, Act::ChangeData | Act::ManageUsers | Act::ManageKeys | Act::ReadAudit) => false,
        }
    }
}

const NAME: Field = text("name", 255).nullable().says("What others call the person.");
const EMAIL: Field = text("email", 254).says("Signs in with it.");
const ROLE: Field = choice("role", Role::NAMES).says("What the person may do.");

/// Bringing somebody in.
pub static NEW_USER: Form =
    Form { name: "NewUser", fields: &[EMAIL.required(), ROLE.required(), NAME], read_only: &[] };

/// Giving somebody another role.
pub static CHANGED_ROLE: Form = Form { name: "ChangedRole", fields: &[ROLE.required()], read_only: &[] };

/// What a person may change of the own account.
pub static OWN_NAME: Form = Form { name: "OwnName", fields: &[NAME], read_only: &[] };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_spelling() {
        assert_eq!(normal_email(" Anna@Bank.Example ").unwrap(), "anna@bank.example");
        for bad in ["", "a", "@b", "a@", "a b@c", "a@b c", "a@@b", "a@b\u{0}"] {
            assert!(normal_email(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn viewers_look_editors_change_and_owners_manage() {
        let acts = [Act::Look, Act::ChangeData, Act::ManageUsers, Act::ManageKeys, Act::ReadAudit];
        let may = |role: Role| acts.map(|act| role.may(act));
        assert_eq!(may(Role::Viewer), [true, false, false, false, false]);
        assert_eq!(may(Role::Editor), [true, true, false, false, false]);
        assert_eq!(may(Role::Owner), [true; 5]);
    }
}
