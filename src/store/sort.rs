//! In which order a list may be asked for: a word, or the word behind a minus for the other way round.
//!
//! What has nothing in the column comes last, whichever way. Rows that are alike come newest last or first, so
//! that pages never overlap.

use super::list::Filter;
use crate::domain::query::Query;

/// A list's words, and the orders behind them: word, way up, way down.
macro_rules! sorts {
    ($(#[$doc:meta])* $names:ident, $orders:ident: $($word:literal = $column:literal),+ $(,)?) => {
        $(#[$doc])*
        pub const $names: &[&str] = &["newest", "oldest", $($word, concat!("-", $word)),+];
        pub(super) const $orders: &[(&str, &str)] = &[
            ("newest", "id desc"),
            ("oldest", "id"),
            $(($word, concat!($column, ", id")), (concat!("-", $word), concat!($column, " desc, id desc"))),+
        ];
    };
}

sorts! {
    /// How programmes may be sorted.
    PROGRAMME_SORTS, PROGRAMME_ORDERS:
    "name" = "name collate nocase", "framework" = "framework", "owner" = "owner is null, owner collate nocase",
    "status" = "case status when 'active' then 1 when 'draft' then 2 when 'completed' then 3 else 4 end",
    "ends" = "ends_on is null, ends_on", "changed" = "updated_at",
}
sorts! {
    /// How test cases may be sorted.
    TEST_CASE_SORTS, TEST_CASE_ORDERS:
    "title" = "title collate nocase", "type" = "type", "assignee" = "assignee is null, assignee collate nocase",
    "status" = "case status when 'in_progress' then 1 when 'blocked' then 2 when 'planned' then 3 when 'failed' then 4 when 'passed' then 5 else 6 end",
    "priority" = "case priority when 'critical' then 1 when 'high' then 2 when 'medium' then 3 else 4 end",
    "due" = "due_on is null, due_on", "changed" = "updated_at",
}
sorts! {
    /// How findings may be sorted; by severity the worst come first.
    FINDING_SORTS, FINDING_ORDERS:
    "title" = "title collate nocase", "owner" = "owner is null, owner collate nocase",
    "severity" = "case severity when 'critical' then 1 when 'high' then 2 when 'medium' then 3 when 'low' then 4 else 5 end",
    "status" = "case status when 'open' then 1 when 'in_progress' then 2 when 'resolved' then 3 when 'risk_accepted' then 4 when 'closed' then 5 else 6 end",
    "due" = "due_on is null, due_on", "detected" = "detected_on", "changed" = "updated_at",
}
sorts! {
    /// How CRA reports may be sorted.
    CRA_SORTS, CRA_ORDERS:
    "title" = "title collate nocase", "product" = "product_name collate nocase",
    "status" = "case status when 'draft' then 1 when 'early_warning_sent' then 2 when 'notification_sent' then 3 when 'final_report_sent' then 4 when 'closed' then 5 else 6 end",
    "aware" = "became_aware_at is null, became_aware_at", "changed" = "updated_at",
}
sorts! {
    /// How providers may be sorted.
    PROVIDER_SORTS, PROVIDER_ORDERS:
    "name" = "name collate nocase", "sector" = "sector is null, sector collate nocase",
    "country" = "country is null, country", "parent" = "parent is null, parent collate nocase",
}
sorts! {
    /// How arrangements may be sorted.
    ARRANGEMENT_SORTS, ARRANGEMENT_ORDERS:
    "service" = "service collate nocase",
    "provider" = "(select name from provider where provider.tenant_id = arrangement.tenant_id and provider.id = arrangement.provider_id) collate nocase",
    "criticality" = "case criticality when 'critical' then 1 when 'important' then 2 else 3 end",
    "cost" = "annual_cost_eur is null, annual_cost_eur", "region" = "region is null, region collate nocase",
}
sorts! {
    /// How webhooks may be sorted.
    WEBHOOK_SORTS, WEBHOOK_ORDERS:
    "name" = "name collate nocase", "channel" = "channel",
}

impl Filter {
    /// In the order that the query's `sort` asks for, if it does.
    pub(super) fn sorted(self, orders: &[(&'static str, &'static str)], query: &Query) -> Filter {
        let asked = query.get("sort");
        match orders.iter().find(|(word, _)| Some(*word) == asked) {
            Some((_, order)) => self.ordered(order),
            None => self,
        }
    }
}
