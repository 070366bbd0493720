//! CVSS vectors to base scores: versions 3.0 and 3.1 by the published formula, 4.0 by its table of classes.
//!
//! Older vectors have no score here: nobody rates in version 2 any more.

use cvss::Cvss;

/// The score of a vector, 0.0 to 10.0; none if it is no vector of a version that is known here.
pub fn of_vector(vector: &str) -> Option<f64> {
    match vector.trim().parse().ok()? {
        // Temporal and environmental metrics are somebody else's; the base is what compares.
        Cvss::CvssV30(vector) | Cvss::CvssV31(vector) => Some(vector.base_score().value()),
        Cvss::CvssV40(vector) => Some(vector.score().value()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn published_examples_have_their_published_scores() {
        for (vector, score) in [
            ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 9.8),
            ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H", 10.0),
            ("CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", 6.1),
            ("CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:N/I:N/A:H", 5.9),
            ("CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:N/I:N/A:N", 0.0),
            ("CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N", 7.5),
            ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:U/RL:O", 9.8),
            ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 9.3),
            ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H", 10.0),
            ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:N/SC:N/SI:N/SA:N", 0.0),
        ] {
            assert_eq!(of_vector(vector), Some(score), "{vector}");
        }
        for none in
            ["", "CVSS:3.1", "CVSS:9.9/AV:N", "AV:N/AC:L/Au:N/C:P/I:P/A:P", "CVSS:4.0/AV:N/AC:L", "7.5"]
        {
            assert_eq!(of_vector(none), None, "{none}");
        }
    }

    /// Section 7.1 and 7.4 of the specification of 3.1, and its integer way to round up (appendix A).
    fn by_the_book(metrics: [usize; 8]) -> f64 {
        let [av, ac, pr, ui, scope, c, i, a] = metrics;
        let changed = scope == 1;
        let required = if changed { [0.85, 0.68, 0.5] } else { [0.85, 0.62, 0.27] }[pr];
        let harm = [0.56, 0.22, 0.0];
        let sub = 1.0 - (1.0 - harm[c]) * (1.0 - harm[i]) * (1.0 - harm[a]);
        let impact =
            if changed { 7.52 * (sub - 0.029) - 3.25 * f64::powi(sub - 0.02, 15) } else { 6.42 * sub };
        let exploitability =
            8.22 * [0.85, 0.62, 0.55, 0.2][av] * [0.77, 0.44][ac] * required * [0.85, 0.62][ui];
        if impact <= 0.0 {
            return 0.0;
        }
        let sum = if changed { 1.08 * (impact + exploitability) } else { impact + exploitability };
        let whole = (f64::min(sum, 10.0) * 100_000.0).round() as i64;
        if whole % 10_000 == 0 { whole as f64 / 100_000.0 } else { ((whole / 10_000) + 1) as f64 / 10.0 }
    }

    #[test]
    fn every_base_vector_of_3_1_has_the_score_of_the_formula() {
        let words: [&[&str]; 8] = [
            &["AV:N", "AV:A", "AV:L", "AV:P"],
            &["AC:L", "AC:H"],
            &["PR:N", "PR:L", "PR:H"],
            &["UI:N", "UI:R"],
            &["S:U", "S:C"],
            &["C:H", "C:L", "C:N"],
            &["I:H", "I:L", "I:N"],
            &["A:H", "A:L", "A:N"],
        ];
        let total: usize = words.iter().map(|each| each.len()).product();
        assert_eq!(total, 2592);
        for number in 0..total {
            let mut rest = number;
            let metrics = words.map(|each| {
                let position = rest % each.len();
                rest /= each.len();
                position
            });
            let parts: Vec<&str> = words.iter().zip(metrics).map(|(each, position)| each[position]).collect();
            let vector = format!("CVSS:3.1/{}", parts.join("/"));
            assert_eq!(of_vector(&vector), Some(by_the_book(metrics)), "{vector}");
        }
    }

    proptest! {
        /// An advisory is foreign text: whatever stands there must not bring the scan down.
        #[test]
        fn no_text_panics(parts in proptest::collection::vec("[A-Z]{1,3}:[A-Z]{0,2}", 0..14), major in 0..5) {
            let _ = of_vector(&format!("CVSS:{major}.0/{}", parts.join("/")));
        }

        #[test]
        fn no_partial_vector_of_4_0_panics(kept in proptest::collection::vec(any::<bool>(), 12)) {
            let all = ["AV:N", "AC:L", "AT:N", "PR:N", "UI:N", "VC:H", "VI:H", "VA:H", "SC:N", "SI:N", "SA:N", "E:A"];
            let parts: Vec<&str> = all.iter().zip(kept).filter(|(_, kept)| *kept).map(|(part, _)| *part).collect();
            let _ = of_vector(&format!("CVSS:4.0/{}", parts.join("/")));
        }
    }
}
