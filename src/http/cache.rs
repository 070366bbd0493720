//! Finished pages, kept for the next caller who asks the same.
//!
//! Bounded in bytes by two generations: new pages go into the young one; when that is
//! full it becomes the old one, and what nobody asked for meanwhile is gone. A page
//! is found by its question (whose data, which row, the raw text of its query), so that
//! a hit needs no checks, and only while the data have the version it was made from.

use super::prepared::Prepared;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, PoisonError, RwLock};

/// Bytes of both generations together.
const BYTES_MAX: usize = 8 * 1024 * 1024;
/// A page larger than this is not worth its place.
const PAGE_BYTES_MAX: usize = 256 * 1024;

/// What a page answers.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub struct Question<'a> {
    /// The row of the table.
    pub row: usize,
    /// Whose data; empty for what is common to all.
    pub tenant: &'a str,
    /// The identifier in the path; empty where there is none.
    pub id: &'a str,
    /// The query as it came.
    pub query: &'a str,
}

/// A finished page.
#[derive(Debug)]
pub struct Page {
    row: usize,
    tenant: String,
    id: String,
    query: String,
    version: u64,
    /// With its compressed variants, each made at the first wish for it.
    pub content: Arc<Prepared>,
}

impl Page {
    fn question(&self) -> Question<'_> {
        Question { row: self.row, tenant: &self.tenant, id: &self.id, query: &self.query }
    }

    fn size(&self) -> usize {
        // Compressed variants are a fraction of the plain bytes.
        2 * self.content.payload.identity.len()
            + self.query.len()
            + self.tenant.len()
            + self.id.len()
            + size_of::<Page>()
    }
}

#[derive(Default)]
struct Generations {
    young: HashMap<u64, Arc<Page>>,
    old: HashMap<u64, Arc<Page>>,
    young_bytes: usize,
}

/// Pages by question.
#[derive(Default)]
pub struct Cache {
    hasher: RandomState,
    pages: RwLock<Generations>,
}

impl Cache {
    /// The page for this question, if one of this version is kept.
    pub fn get(&self, question: &Question, version: u64) -> Option<Arc<Page>> {
        let place = self.hasher.hash_one(question);
        let is_it = |page: &&Arc<Page>| page.version == version && page.question() == *question;
        let pages = self.pages.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = pages.young.get(&place).filter(is_it) {
            return Some(Arc::clone(page));
        }
        let page = Arc::clone(pages.old.get(&place).filter(is_it)?);
        drop(pages);
        self.insert(place, Arc::clone(&page));
        Some(page)
    }

    /// Keeps a page that was made for this question from data of this version.
    pub fn put(&self, question: &Question, version: u64, content: &Arc<Prepared>) {
        if content.payload.identity.len() > PAGE_BYTES_MAX {
            return;
        }
        let page = Page {
            row: question.row,
            tenant: question.tenant.to_owned(),
            id: question.id.to_owned(),
            query: question.query.to_owned(),
            version,
            content: Arc::clone(content),
        };
        self.insert(self.hasher.hash_one(question), Arc::new(page));
    }

    fn insert(&self, place: u64, page: Arc<Page>) {
        let mut pages = self.pages.write().unwrap_or_else(PoisonError::into_inner);
        if pages.young_bytes + page.size() > BYTES_MAX / 2 {
            pages.old = std::mem::take(&mut pages.young);
            pages.young_bytes = 0;
        }
        let added = page.size();
        let replaced = pages.young.insert(place, page).map_or(0, |page| page.size());
        pages.young_bytes += added;
        pages.young_bytes -= replaced;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(bytes: usize) -> Arc<Prepared> {
        Arc::new(Prepared::json(crate::payload::Payload::made(vec![b'x'; bytes])))
    }

    fn ask(query: &str) -> Question<'_> {
        Question { row: 1, tenant: "tnt_1", id: "", query }
    }

    #[test]
    fn a_page_is_found_by_its_question_and_version_alone() {
        let cache = Cache::default();
        cache.put(&ask("limit=2"), 7, &content(3));
        assert!(cache.get(&ask("limit=2"), 7).is_some());
        assert!(cache.get(&ask("limit=2"), 8).is_none());
        assert!(cache.get(&ask("limit=3"), 7).is_none());
        assert!(cache.get(&Question { tenant: "tnt_2", ..ask("limit=2") }, 7).is_none());
        assert!(cache.get(&Question { row: 2, ..ask("limit=2") }, 7).is_none());
        assert!(cache.get(&Question { id: "x", ..ask("limit=2") }, 7).is_none());
    }

    #[test]
    fn memory_is_bounded_and_what_is_asked_for_stays() {
        let cache = Cache::default();
        let body = content(50_000);
        cache.put(&ask("favourite"), 1, &body);
        for number in 0..500 {
            cache.put(&ask(&format!("offset={number}")), 1, &body);
            assert!(cache.get(&ask("favourite"), 1).is_some(), "after {number}");
        }
        let pages = cache.pages.read().unwrap();
        let bytes: usize = pages.young.values().chain(pages.old.values()).map(|page| page.size()).sum();
        assert!(bytes <= BYTES_MAX, "{bytes}");
        drop(pages);
        cache.put(&ask("huge"), 1, &content(PAGE_BYTES_MAX + 1));
        assert!(cache.get(&ask("huge"), 1).is_none());
    }
}
