package httptool

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// AllowListVariable is the environment variable that holds the allow-list.
const AllowListVariable = "PROCESSIDEA_HTTP_ALLOW"

// allowList says which hosts may be reached: named hosts, the hosts below a domain, or all public ones.
type allowList struct {
	allowedHosts    map[string]bool // "host" for all ports, "host:port" for one
	domainSuffixes  []string        // ".example.com", for public addresses only
	allowsAllPublic bool            // "*", for public addresses only
}

// CheckAllowList returns the error in an allow-list: `host[:port],…`, `*.domain` for the hosts below a domain, `*` for all
// public ones.
func CheckAllowList(text string) error {
	_, err := parseAllowList(text)
	return err
}

func parseAllowList(text string) (*allowList, error) {
	list := &allowList{allowedHosts: map[string]bool{}}
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		if err := list.addEntry(entry); err != nil {
			return nil, fmt.Errorf("httptool: parse %s: entry %q: %w, such as shop.example.com or 127.0.0.1:8080",
				AllowListVariable, entry, err)
		}
	}
	return list, nil
}

func (l *allowList) addEntry(entry string) error {
	if entry == "*" {
		l.allowsAllPublic = true
		return nil
	}
	if domain, ok := strings.CutPrefix(entry, "*."); ok && hostPattern.MatchString(normalizeHost(domain)) {
		l.domainSuffixes = append(l.domainSuffixes, "."+normalizeHost(domain))
		return nil
	}
	host, port := entry, ""
	if _, err := netip.ParseAddr(strings.Trim(entry, "[]")); err != nil && strings.Contains(entry, ":") {
		host, port, err = net.SplitHostPort(entry)
		if err != nil {
			return errors.New("not host or host:port")
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || port != strconv.FormatUint(n, 10) || n == 0 {
			return fmt.Errorf("port %q: not from 1 to 65535", port)
		}
	}
	normalizedHost := normalizeHost(host)
	_, err := netip.ParseAddr(normalizedHost)
	if strings.HasPrefix(host, "[") != strings.HasSuffix(host, "]") ||
		err != nil && (strings.ContainsAny(host, "[]") || !hostPattern.MatchString(normalizedHost)) {
		return errors.New("not host or host:port")
	}
	l.allowedHosts[hostWithPort(normalizedHost, port)] = true
	return nil
}

func (l *allowList) isEmpty() bool {
	return len(l.allowedHosts) == 0 && len(l.domainSuffixes) == 0 && !l.allowsAllPublic
}

// namesHost reports whether the list names exactly this host, with this port or without a port.
func (l *allowList) namesHost(host, port string) bool {
	return l.allowedHosts[hostWithPort(host, "")] || l.allowedHosts[hostWithPort(host, port)]
}

// allowsHost reports whether the host may be contacted at all. Its address is checked when it is dialled.
func (l *allowList) allowsHost(host, port string) bool {
	return l.allowsAllPublic || l.namesHost(host, port) ||
		slices.ContainsFunc(l.domainSuffixes, func(suffix string) bool { return strings.HasSuffix(host, suffix) })
}

// hostPattern matches a host's name. The last label must not be a number: 10.0.0.256 would pass as a name.
var hostPattern = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_-]*[a-z_][a-z0-9_-]*$`)

func hostWithPort(host, port string) string {
	if port == "" {
		return host
	}
	return net.JoinHostPort(host, port)
}

// normalizeHost returns the form of a host for comparison: lower case, an international name in ASCII, an address in
// its shortest form.
func normalizeHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().WithZone("").String()
	}
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host
}
