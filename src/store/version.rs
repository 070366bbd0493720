//! Data versions: a number per tenant that moves with every write, so that a cached
//! page is known to be of yesterday without asking the database.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The versions of all tenants that were heard of.
#[derive(Default)]
pub struct Versions {
    tenants: RwLock<HashMap<String, Arc<AtomicU64>>>,
    /// Moves when another process changed the file: then everybody's data may be new.
    everybody: Arc<AtomicU64>,
}

/// One tenant's version, to be read without a look-up.
#[derive(Clone, Debug)]
pub struct Version {
    tenant: Arc<AtomicU64>,
    everybody: Arc<AtomicU64>,
}

impl Version {
    /// The number now. Both parts only grow, so their sum never comes back.
    pub fn now(&self) -> u64 {
        self.tenant.load(Ordering::SeqCst) + self.everybody.load(Ordering::SeqCst)
    }
}

impl Versions {
    /// A tenant's version.
    pub fn of(&self, tenant_id: &str) -> Version {
        let known = self.tenants.read().unwrap_or_else(PoisonError::into_inner).get(tenant_id).cloned();
        let tenant = known.unwrap_or_else(|| {
            let mut tenants = self.tenants.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(tenants.entry(tenant_id.to_owned()).or_default())
        });
        Version { tenant, everybody: Arc::clone(&self.everybody) }
    }

    /// A tenant's data changed.
    pub fn bump(&self, tenant_id: &str) {
        self.of(tenant_id).tenant.fetch_add(1, Ordering::SeqCst);
    }

    /// Anybody's data may have changed.
    pub fn bump_all(&self) {
        self.everybody.fetch_add(1, Ordering::SeqCst);
    }
}
