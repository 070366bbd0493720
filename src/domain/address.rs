//! Addresses that a delivery must never reach: what is private, local, reserved, or a machine's own
//! metadata. A name is refused if any of its addresses is one of these.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of IPv4, as address and prefix length.
const FORBIDDEN_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // The metadata service of one large cloud stands outside of the private ranges.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// Networks of IPv6. Those that carry an IPv4 address inside (NAT64, 6to4, Teredo) are refused whole.
const FORBIDDEN_V6: &[(Ipv6Addr, u32)] = &[
    // Unspecified, loopback, and IPv4 in its old spelling.
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 0), 96),
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2001, 0x10, 0, 0, 0, 0, 0, 0), 28),
    (Ipv6Addr::new(0x2001, 0x20, 0, 0, 0, 0, 0, 0), 28),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
    (Ipv6Addr::new(0x5f00, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8),
];

/// Must nothing be sent there?
pub fn is_forbidden(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_forbidden_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(inner) => is_forbidden_v4(inner),
            None => FORBIDDEN_V6.iter().any(|(network, length)| {
                let shift = 128 - length;
                address.to_bits() >> shift == network.to_bits() >> shift
            }),
        },
    }
}

fn is_forbidden_v4(address: Ipv4Addr) -> bool {
    FORBIDDEN_V4.iter().any(|(network, length)| {
        let shift = 32 - length;
        address.to_bits() >> shift == network.to_bits() >> shift
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forbidden(text: &str) -> bool {
        is_forbidden(text.parse().unwrap())
    }

    #[test]
    fn each_range_is_forbidden_to_its_ends_and_not_beyond() {
        for (first, last, before, after) in [
            ("0.0.0.0", "0.255.255.255", None, Some("1.0.0.0")),
            ("10.0.0.0", "10.255.255.255", Some("9.255.255.255"), Some("11.0.0.0")),
            ("100.64.0.0", "100.127.255.255", Some("100.63.255.255"), Some("100.128.0.0")),
            ("127.0.0.0", "127.255.255.255", Some("126.255.255.255"), Some("128.0.0.0")),
            ("168.63.129.16", "168.63.129.16", Some("168.63.129.15"), Some("168.63.129.17")),
            ("169.254.0.0", "169.254.255.255", Some("169.253.255.255"), Some("169.255.0.0")),
            ("172.16.0.0", "172.31.255.255", Some("172.15.255.255"), Some("172.32.0.0")),
            ("192.0.0.0", "192.0.0.255", Some("191.255.255.255"), Some("192.0.1.0")),
            ("192.0.2.0", "192.0.2.255", Some("192.0.1.255"), Some("192.0.3.0")),
            ("192.88.99.0", "192.88.99.255", Some("192.88.98.255"), Some("192.88.100.0")),
            ("192.168.0.0", "192.168.255.255", Some("192.167.255.255"), Some("192.169.0.0")),
            ("198.18.0.0", "198.19.255.255", Some("198.17.255.255"), Some("198.20.0.0")),
            ("198.51.100.0", "198.51.100.255", Some("198.51.99.255"), Some("198.51.101.0")),
            ("203.0.113.0", "203.0.113.255", Some("203.0.112.255"), Some("203.0.114.0")),
            ("224.0.0.0", "255.255.255.255", Some("223.255.255.255"), None),
            ("::", "::ffff:ffff", None, Some("::1:0:0")),
            ("64:ff9b::", "64:ff9b::ffff:ffff", Some("64:ff9a:ffff::"), Some("64:ff9b::1:0:0")),
            ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", None, Some("64:ff9b:2::")),
            ("100::", "100::ffff:ffff:ffff:ffff", Some("ff::1"), Some("100:0:0:1::")),
            ("2001::", "2001:0:ffff::", Some("2000:ffff::"), Some("2001:1::")),
            ("2001:10::", "2001:2f:ffff::", Some("2001:f::"), Some("2001:30::")),
            ("2001:db8::", "2001:db8:ffff::", Some("2001:db7::"), Some("2001:db9::")),
            ("2002::", "2002:ffff::", Some("2001:ffff::"), Some("2003::")),
            ("3fff::", "3fff:fff::", Some("3ffe::"), Some("3fff:1000::")),
            ("5f00::", "5f00:ffff::", Some("5eff::"), Some("5f01::")),
            ("fc00::", "fdff:ffff::", Some("fbff::"), Some("fe00::")),
            ("fe80::", "feff::", Some("fe7f::"), None),
            ("ff00::", "ffff::", None, None),
        ] {
            assert!(forbidden(first), "{first}");
            assert!(forbidden(last), "{last}");
            for neighbour in [before, after].into_iter().flatten() {
                assert!(!forbidden(neighbour), "{neighbour}");
            }
        }
    }

    #[test]
    fn ipv4_inside_ipv6_is_judged_as_ipv4() {
        assert!(forbidden("::ffff:127.0.0.1"));
        assert!(forbidden("::ffff:169.254.169.254"));
        assert!(!forbidden("::ffff:9.9.9.9"));
        assert!(!forbidden("2a00:1450:4001::1") && !forbidden("9.9.9.9"));
    }
}
