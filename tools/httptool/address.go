package httptool

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"processidea/internal/safego"
)

// privateRanges are the ranges outside the public internet: this host, private and shared networks, links,
// documentation, translation and tunnels, and reserved ranges.
var privateRanges = parsePrefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32", // the last is Azure's service for its machines
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// rangesByAddressOnly are never reached through a host's name, only by naming the address: link-local addresses, where
// clouds keep their metadata, addresses of more than one host, and addresses that are translated or tunnelled to IPv4.
var rangesByAddressOnly = parsePrefixes("0.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32", "192.0.0.192/32",
	"100.100.100.200/32",
	"224.0.0.0/4", "240.0.0.0/4", "::/128", "fe80::/10", "fd00:ec2::254/128", "fd20:ce::254/128", "ff00::/8",
	"64:ff9b:1::/48", "2001::/32", "2002::/16")

// publicIPv6Prefix contains the public IPv6 addresses; nat64 contains translated IPv4 addresses.
var (
	publicIPv6Prefix = netip.MustParsePrefix("2000::/3")
	nat64Prefix      = netip.MustParsePrefix("64:ff9b::/96")
)

func parsePrefixes(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

func isWithin(ip netip.Addr, ranges []netip.Prefix) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// effectiveAddr returns the effective address: an IPv4 address if it is mapped into IPv6 or translated by NAT64.
func effectiveAddr(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if nat64Prefix.Contains(ip) {
		b := ip.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return ip
}

// isPublic reports whether an address from effectiveAddr is on the public internet.
func isPublic(ip netip.Addr) bool {
	return ip.IsValid() && (ip.Is4() || publicIPv6Prefix.Contains(ip)) && !isWithin(ip, privateRanges)
}

// dialer connects to what the list allows. It checks the address that is really dialled, after the name was resolved: a
// name that changes its address in between gains nothing.
type dialer struct {
	allowList *allowList
	resolver  *net.Resolver // nil for the system's
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	netDialer := net.Dialer{
		Timeout:   10 * time.Second,
		KeepAlive: 30 * time.Second,
		Resolver:  d.resolver,
		Control: func(_, address string, _ syscall.RawConn) error {
			// Control is called on goroutines of the transport and of package net.
			return safego.Run("http.dial",
				func() error { return d.checkDialedAddress(address, d.allowList.namesHost(normalizeHost(host), port)) })
		},
	}
	return netDialer.DialContext(ctx, network, address)
}

func (d *dialer) checkDialedAddress(address string, isHostOnAllowList bool) error {
	addrPort, err := netip.ParseAddrPort(address)
	if err != nil {
		return finalErrorf("address %s is not an IP address", address)
	}
	ip := effectiveAddr(addrPort.Addr())
	_, port, _ := net.SplitHostPort(address)
	if isPublic(ip) || d.allowList.namesHost(ip.String(), port) ||
		(isHostOnAllowList && !isWithin(ip, rangesByAddressOnly)) {
		return nil
	}
	return notAllowedErrorf("address %s is not public: name the host in %s", ip, AllowListVariable)
}
