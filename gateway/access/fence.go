package access

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// OriginPolicy refuses requests that a foreign page makes a browser send. It checks the host name by which the request
// calls the gateway (against DNS rebinding), and the page's origin. Programs send no origin, but their host name is
// checked too.
type OriginPolicy struct {
	// OwnHostNames are the names under which the gateway is called, without a port. Names of the loopback are always
	// allowed.
	OwnHostNames []string
	// AllowedOrigins are other sites whose pages may send requests, such as https://desk.example.com. CORS headers
	// allow them.
	AllowedOrigins []string
}

// Check returns why a request is refused, or nil if it is accepted.
func (f OriginPolicy) Check(r *http.Request) *Refusal {
	if !f.allowsHost(r.Host) {
		return &Refusal{http.StatusMisdirectedRequest, CodeForeignHost,
			"this gateway does not answer to the name " + toPrintable(r.Host) +
				": add it to PROCESSIDEA_GATEWAY_HOSTS"}
	}
	origin := r.Header.Get("Origin")
	switch {
	case slices.Contains(f.AllowedOrigins, origin):
		return nil
	case origin != "" && !isSameHost(origin, r):
		return &Refusal{http.StatusForbidden, CodeForeignPage, "pages of another origin may not send requests here"}
	case origin == "" && isForeignSite(r.Header.Get("Sec-Fetch-Site")):
		return &Refusal{http.StatusForbidden, CodeForeignPage, "pages of another site may not send requests here"}
	}
	return nil
}

// AllowsOrigin reports whether the page of an origin may read the responses.
func (f OriginPolicy) AllowsOrigin(origin string) bool {
	return origin != "" && slices.Contains(f.AllowedOrigins, origin)
}

func (f OriginPolicy) allowsHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	return IsLoopback(name) ||
		slices.ContainsFunc(f.OwnHostNames, func(own string) bool { return strings.EqualFold(own, name) })
}

// IsLoopback reports whether a name leads to this machine, whatever a name server answers.
func IsLoopback(name string) bool {
	return name == "localhost" || net.ParseIP(name).IsLoopback()
}

// isSecureURL reports whether nobody on the way can read or change what is sent to an address.
func isSecureURL(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && IsLoopback(u.Hostname())
}

// isSameHost reports whether the request was sent to the origin's host. A proxy may have terminated TLS, so the schemes
// may differ.
func isSameHost(origin string, r *http.Request) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host) &&
		(u.Scheme == "http" || u.Scheme == "https")
}

// isForeignSite evaluates the browser's Sec-Fetch-Site: same-origin, same-site, cross-site, or none for a typed
// address.
func isForeignSite(secFetchSite string) bool {
	return secFetchSite == "cross-site" || secFetchSite == "same-site"
}

func toPrintable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text[:min(len(text), 100)])
}

// CheckOriginFormat returns the error in an origin, which is scheme and host in the form that browsers use.
func CheckOriginFormat(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" ||
		origin != strings.ToLower(u.Scheme+"://"+u.Host) {
		return errors.New("not of the form https://host[:port], in lower case and with nothing after it")
	}
	return nil
}

// IsPageNavigation reports whether a browser opens a page because a person followed a link, possibly on another site.
// Such a request changes nothing, and the other site does not see the page.
func IsPageNavigation(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Origin") == "" &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}
