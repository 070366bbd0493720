//! From where a request comes.
//!
//! What a client writes about itself counts for nothing. Behind a proxy, and only if the operator said that there
//! is one, the last entry of `X-Forwarded-For` counts: that is what the proxy itself saw.

use hyper::http::request::Parts;
use std::net::IpAddr;

/// The other end of the connection, as the server puts it beside a request's head.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub Option<IpAddr>);

/// The address of whoever asks, if it is known.
pub fn address(head: &Parts, behind_proxy: bool) -> Option<IpAddr> {
    let peer = head.extensions.get::<Peer>().and_then(|peer| peer.0);
    if !behind_proxy {
        return peer;
    }
    let last = head.headers.get_all("x-forwarded-for").iter().next_back();
    let seen = last.and_then(|list| list.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
    seen.or(peer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(forwarded: &[&str]) -> Parts {
        let mut request = hyper::Request::builder();
        for list in forwarded {
            request = request.header("X-Forwarded-For", *list);
        }
        let (mut head, ()) = request.body(()).unwrap().into_parts();
        head.extensions.insert(Peer(Some([127, 0, 0, 1].into())));
        head
    }

    #[test]
    fn only_a_proxy_that_the_operator_named_is_believed_and_only_its_own_entry() {
        let told = head(&["203.0.113.9", "198.51.100.1, 192.0.2.7"]);
        assert_eq!(address(&told, false), Some([127, 0, 0, 1].into()));
        assert_eq!(address(&told, true), Some([192, 0, 2, 7].into()));
        assert_eq!(address(&head(&["nonsense"]), true), Some([127, 0, 0, 1].into()));
        assert_eq!(address(&head(&[]), true), Some([127, 0, 0, 1].into()));
    }
}
