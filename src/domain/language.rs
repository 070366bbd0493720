//! Languages of the workspace.

words! {
    /// A language that the pages are written in.
    Language {
        English = "en",
        German = "de",
    }
}
