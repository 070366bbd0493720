//! Content encodings: what the client accepts, by its own order of preference.

/// An encoding that we can send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As it is.
    Identity,
    /// gzip
    Gzip,
    /// br
    Brotli,
}

impl Encoding {
    /// All of them.
    pub const ALL: [Encoding; 3] = [Encoding::Identity, Encoding::Gzip, Encoding::Brotli];

    /// Its name in `Content-Encoding`; none for identity.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Encoding::Identity => None,
            Encoding::Gzip => Some("gzip"),
            Encoding::Brotli => Some("br"),
        }
    }

    /// What it adds to an ETag.
    pub fn etag_suffix(self) -> &'static str {
        match self {
            Encoding::Identity => "",
            Encoding::Gzip => "-gz",
            Encoding::Brotli => "-br",
        }
    }

    /// The best encoding for an `Accept-Encoding` header. On a tie brotli, then gzip.
    pub fn negotiate(header: Option<&str>) -> Encoding {
        let Some(header) = header else { return Encoding::Identity };
        let quality = |name: &str| quality_of(header, name);
        let star = quality("*");
        let brotli = quality("br").or(star).unwrap_or(0);
        let gzip = quality("gzip").or(star).unwrap_or(0);
        let identity = quality("identity").unwrap_or(if brotli + gzip > 0 { 0 } else { 1 });
        if brotli > 0 && brotli >= gzip && brotli >= identity {
            Encoding::Brotli
        } else if gzip > 0 && gzip >= identity {
            Encoding::Gzip
        } else {
            Encoding::Identity
        }
    }

    /// The encoding for JSON made for one request: gzip if the client takes it, since it is quicker to make.
    pub fn negotiate_dynamic(header: Option<&str>) -> Encoding {
        let quality = |name| header.and_then(|header| quality_of(header, name));
        let takes_gzip = quality("gzip").or_else(|| quality("*")).is_some_and(|quality| quality > 0);
        match Encoding::negotiate(header) {
            Encoding::Brotli if takes_gzip => Encoding::Gzip,
            chosen @ (Encoding::Identity | Encoding::Gzip | Encoding::Brotli) => chosen,
        }
    }
}

/// The quality of one coding in thousandths, if it is named.
fn quality_of(header: &str, name: &str) -> Option<u32> {
    header.split(',').find_map(|item| {
        let (coding, parameters) = item.split_once(';').unwrap_or((item, ""));
        coding.trim().eq_ignore_ascii_case(name).then(|| {
            let quality =
                parameters.trim().strip_prefix("q=").and_then(|text| text.trim().parse::<f32>().ok());
            (quality.unwrap_or(1.0).clamp(0.0, 1.0) * 1000.0) as u32
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_preference_counts() {
        for (header, expected) in [
            (None, Encoding::Identity),
            (Some(""), Encoding::Identity),
            (Some("gzip"), Encoding::Gzip),
            (Some("gzip, deflate, br"), Encoding::Brotli),
            (Some("br;q=0.5, gzip;q=0.8"), Encoding::Gzip),
            (Some("br;q=0, gzip;q=0"), Encoding::Identity),
            (Some("identity, gzip;q=0.5"), Encoding::Identity),
            (Some("*"), Encoding::Brotli),
            (Some("*;q=0"), Encoding::Identity),
            (Some("GZIP;q=1.0"), Encoding::Gzip),
            (Some("deflate"), Encoding::Identity),
            (Some("gzip;q=nonsense"), Encoding::Gzip),
        ] {
            assert_eq!(Encoding::negotiate(header), expected, "{header:?}");
        }
    }
}
