//! Finished pages, kept for the next caller who asks the same.
//!
//! Bounded in bytes by two generations: new pages go into the young one; when that is
//! full it becomes the old one, and what nobody asked for meanwhile is gone. A page
//! is found by its row and the raw text of its query, so that a hit needs no checks.

use super::reply::Reply;
use bytes::Bytes;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, PoisonError, RwLock};

/// Bytes of both generations together.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// A page larger than this is not worth its place.
const PAGE_BYTES_MAX: usize = 256 * 1024;

/// A finished page.
#[derive(Debug)]
pub struct Page {
    row: usize,
    query: String,
    body: Bytes,
    digest: String,
}

impl Page {
    /// The page as an answer.
    pub fn reply(&self) -> Reply {
        Reply::json_bytes(self.body.clone()).with_digest(self.digest.clone())
    }

    fn size(&self) -> usize {
        self.body.len() + self.query.len() + size_of::<Page>()
    }
}

#[derive(Default)]
struct Generations {
    young: HashMap<u64, Arc<Page>>,
    old: HashMap<u64, Arc<Page>>,
    young_bytes: usize,
}

/// Pages by row and query.
#[derive(Default)]
pub struct Cache {
    hasher: RandomState,
    pages: RwLock<Generations>,
}

impl Cache {
    /// The page for this question, if it is kept.
    pub fn get(&self, row: usize, query: &str) -> Option<Arc<Page>> {
        let place = self.hasher.hash_one((row, query));
        let is_it = |page: &&Arc<Page>| page.row == row && page.query == query;
        let pages = self.pages.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = pages.young.get(&place).filter(is_it) {
            return Some(Arc::clone(page));
        }
        let page = Arc::clone(pages.old.get(&place).filter(is_it)?);
        drop(pages);
        self.insert(place, Arc::clone(&page));
        Some(page)
    }

    /// Keeps a page that was made for this question.
    pub fn put(&self, row: usize, query: &str, body: &Bytes, digest: &str) {
        if body.len() > PAGE_BYTES_MAX {
            return;
        }
        let page = Page { row, query: query.to_owned(), body: body.clone(), digest: digest.to_owned() };
        self.insert(self.hasher.hash_one((row, query)), Arc::new(page));
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

    #[test]
    fn a_page_is_found_by_row_and_query_alone() {
        let cache = Cache::default();
        cache.put(1, "limit=2", &Bytes::from_static(b"two"), "d");
        assert!(cache.get(1, "limit=2").is_some());
        assert!(cache.get(2, "limit=2").is_none());
        assert!(cache.get(1, "limit=3").is_none());
    }

    #[test]
    fn memory_is_bounded_and_what_is_asked_for_stays() {
        let cache = Cache::default();
        let body = Bytes::from(vec![b'x'; 100_000]);
        cache.put(0, "favourite", &body, "d");
        for number in 0..500 {
            cache.put(0, &format!("offset={number}"), &body, "d");
            assert!(cache.get(0, "favourite").is_some(), "after {number}");
        }
        let pages = cache.pages.read().unwrap();
        let bytes: usize = pages.young.values().chain(pages.old.values()).map(|page| page.size()).sum();
        assert!(bytes <= BYTES_MAX, "{bytes}");
        drop(pages);
        cache.put(0, "huge", &Bytes::from(vec![b'x'; PAGE_BYTES_MAX + 1]), "d");
        assert!(cache.get(0, "huge").is_none());
    }
}
