//! Pages: how much of a list is asked for.

/// The largest page; a larger `limit` is applied as this.
pub const LIMIT_MAX: u64 = 500;
/// The page size when none is asked for.
pub const LIMIT_DEFAULT: u64 = 50;

/// The slice of a list that a caller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// At most so many items, 1 to 500.
    pub limit: u64,
    /// Items left out before the first.
    pub offset: u64,
}

impl Default for Page {
    fn default() -> Page {
        Page { limit: LIMIT_DEFAULT, offset: 0 }
    }
}

impl Page {
    /// The positions this page covers in a list of `total` items.
    pub fn range(self, total: usize) -> std::ops::Range<usize> {
        let start = usize::try_from(self.offset).unwrap_or(usize::MAX).min(total);
        let length = usize::try_from(self.limit).unwrap_or(usize::MAX);
        start..start.saturating_add(length).min(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_past_the_end_is_empty_not_an_error() {
        assert_eq!(Page { limit: 50, offset: 160 }.range(168), 160..168);
        assert_eq!(Page { limit: 50, offset: u64::MAX }.range(168), 168..168);
    }
}
