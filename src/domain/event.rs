//! Events: what webhooks are told of. An event is stored with the change that caused it.

words! {
    /// The four events.
    EventName {
        FindingCreated = "finding.created",
        FindingStatusChanged = "finding.status_changed",
        TestCaseStatusChanged = "test_case.status_changed",
        DeadlineApproaching = "deadline.approaching",
    }
}
