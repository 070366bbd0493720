//! Who acts: a person, a key, the clock, or somebody at the command line.
//!
//! Every change is written down with its actor. Whoever opens a handle to a tenant's data says who it is for;
//! what the service does by itself is the clock's.

use std::net::IpAddr;

words! {
    /// What kind of actor.
    ActorKind { User = "user", Key = "key", Clock = "clock", CommandLine = "command_line" }
}

/// Who acts.
#[derive(Clone, Debug, PartialEq)]
pub struct Actor {
    /// What kind.
    pub kind: ActorKind,
    /// `usr_…` or `key_…`
    pub id: Option<String>,
    /// What people call it, at this moment.
    pub name: Option<String>,
    /// From where, if that is known.
    pub address: Option<IpAddr>,
}

impl Actor {
    /// The service itself, when a time has come.
    pub fn clock() -> Actor {
        Actor { kind: ActorKind::Clock, id: None, name: None, address: None }
    }

    /// Somebody who may run commands on the machine.
    pub fn command_line() -> Actor {
        Actor { kind: ActorKind::CommandLine, ..Actor::clock() }
    }

    /// An API key.
    pub fn key(id: &str, name: &str) -> Actor {
        Actor { kind: ActorKind::Key, id: Some(id.to_owned()), name: Some(name.to_owned()), address: None }
    }

    /// A person.
    pub fn user(id: &str, name: &str) -> Actor {
        Actor { kind: ActorKind::User, id: Some(id.to_owned()), name: Some(name.to_owned()), address: None }
    }

    /// The same, from an address.
    pub fn at(mut self, address: Option<IpAddr>) -> Actor {
        self.address = address;
        self
    }
}
