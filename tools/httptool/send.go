package httptool

import (
	"bytes"
	"context"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

const maxRedirects = 5

// send sends a request, follows its redirects, checking each host against the allow-list, and reads the answer.
func (c *Client) send(ctx context.Context, r *request) (*response, error) {
	for hop := 0; ; hop++ {
		err := c.checkHostAllowed(r.url)
		var resp *http.Response
		if err == nil {
			resp, err = c.sendOnce(ctx, r)
		}
		if err != nil && hop > 0 && isNotAllowed(err) {
			err = finalErrorf("redirect: %s", err) // the server chose the host, not the author of the tool
		}
		if err != nil {
			return nil, contextErrorUnlessRefused(ctx, err)
		}
		nextRequest, err := nextRedirectRequest(r, resp)
		if nextRequest == nil && err == nil {
			a, err := c.readResponse(resp)
			if err != nil {
				return nil, contextErrorUnlessRefused(ctx, err)
			}
			if hop > 0 && !r.acceptsAnyStatus && a.isLoginPage(r.url) {
				return nil, finalErrorf("redirect: %s://%s%s is a page to log in at, so the server does not know who "+
					"calls: see that the tool sends a valid key", r.url.Scheme, r.url.Host, r.url.EscapedPath())
			}
			return a, a.statusError(r.acceptsAnyStatus, c.now())
		}
		_ = resp.Body.Close()
		if err == nil && hop == maxRedirects {
			err = finalErrorf("more than %d redirects", maxRedirects)
		}
		if err != nil {
			return nil, err
		}
		r = nextRequest
	}
}

func (c *Client) checkHostAllowed(u *url.URL) error {
	host, port := hostAndPort(u)
	switch {
	case c.allowListErr != nil:
		return notAllowedErrorf("%w", c.allowListErr)
	case c.allowList.isEmpty():
		return notAllowedErrorf("no host is allowed: set %s=%s", AllowListVariable, hostWithPort(host, port))
	case !c.allowList.allowsHost(host, port):
		return notAllowedErrorf("host %s is not in %s", hostWithPort(host, port), AllowListVariable)
	}
	return nil
}

func (c *Client) sendOnce(ctx context.Context, r *request) (*http.Response, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url.String(), body)
	if err != nil {
		return nil, finalError{err}
	}
	req.Header.Set("User-Agent", "processidea")
	req.Header.Set("Accept", "application/json, text/*;q=0.9, */*;q=0.8")
	maps.Copy(req.Header, r.toolHeaders)
	if r.idempotencyKey != "" {
		// Not under its canonical name, by which net/http would send the request again by itself when a connection
		// breaks. A Call with one attempt must run at most once.
		req.Header["idempotency-key"] = []string{r.idempotencyKey}
	}
	return c.transport.RoundTrip(req)
}

// nextRedirectRequest returns the request that an answer redirects to; nil if it does not redirect. Another host
// receives neither the tool's headers nor a body with a secret.
func nextRedirectRequest(r *request, resp *http.Response) (*request, error) {
	keepsMethod := resp.StatusCode == 307 || resp.StatusCode == 308
	if !keepsMethod && resp.StatusCode != 301 && resp.StatusCode != 302 && resp.StatusCode != 303 {
		return nil, nil
	}
	location := resp.Header.Get("Location")
	if location == "" {
		return nil, nil
	}
	targetURL, err := r.url.Parse(location)
	if err == nil {
		targetURL, err = parseHTTPURL(targetURL.String(), "")
	}
	if err != nil {
		return nil, finalErrorf("redirect: not an http or https URL")
	}
	nextRequest := *r
	nextRequest.url, nextRequest.toolHeaders = targetURL, r.toolHeaders.Clone()
	if !keepsMethod && r.method != "GET" && r.method != "HEAD" {
		if isSamePathElsewhere(r.url, targetURL) {
			return nil, finalErrorf("redirect: the server is at %s://%s%s, and has not taken the request: write that "+
				"address in the file", targetURL.Scheme, targetURL.Host, targetURL.EscapedPath())
		}
		nextRequest.method, nextRequest.body, nextRequest.bodyHasSecret = "GET", nil, false
		nextRequest.toolHeaders.Del("Content-Type")
	}
	if !isSameHost(r.url, targetURL) {
		// If a server repeats its URL in the Location, the other host would receive the secrets in that URL.
		if nextRequest.bodyHasSecret || r.vault.containsSecret(targetURL.String()) {
			return nil, finalErrorf("redirect: it would carry a secret to another host")
		}
		nextRequest.toolHeaders = http.Header{}
		if nextRequest.body != nil {
			nextRequest.toolHeaders.Set("Content-Type", r.toolHeaders.Get("Content-Type"))
		}
	}
	return &nextRequest, nil
}

// isSamePathElsewhere reports whether two addresses have the same path and differ only in scheme, host or final slash.
// A server that redirects to such an address has done nothing: following with GET would only show a page, and the Call
// would count as done.
func isSamePathElsewhere(from, to *url.URL) bool {
	return strings.TrimRight(from.Path, "/") == strings.TrimRight(to.Path, "/") &&
		(from.Path != to.Path || from.Scheme != to.Scheme || from.Host != to.Host)
}

var (
	loginPathPattern     = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:(?:log|sign)[-_]?in|sso|saml2?|oauth2?)(?:[^a-z]|$)`)
	passwordFieldPattern = regexp.MustCompile(`(?i)<input[^>]+type\s*=\s*["']?password\b`)
)

// isLoginPage reports whether an answer is a login page. Servers for browsers redirect unknown callers to one, with the
// status of a success.
func (a *response) isLoginPage(pageURL *url.URL) bool {
	mediaType, _, _ := mime.ParseMediaType(a.contentType)
	return mediaType == "text/html" && (loginPathPattern.MatchString(pageURL.Path) || HasPasswordField(a.body))
}

// HasPasswordField reports whether a page asks for a password.
func HasPasswordField(page []byte) bool { return passwordFieldPattern.Match(page) }

// isSameHost reports whether two URLs are of one server. A step from http to https on their default ports counts as the
// same server.
func isSameHost(from, to *url.URL) bool {
	fromHost, fromPort := hostAndPort(from)
	toHost, toPort := hostAndPort(to)
	isHTTPSUpgrade := from.Scheme == "http" && to.Scheme == "https" && fromPort == "80" && toPort == "443"
	return fromHost == toHost && (isHTTPSUpgrade || from.Scheme == to.Scheme && fromPort == toPort)
}

func hostAndPort(u *url.URL) (host, port string) { return normalizeHost(u.Hostname()), portOf(u) }

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// contextErrorUnlessRefused returns the context's error once the context has ended, except if this worker refused the
// request.
func contextErrorUnlessRefused(ctx context.Context, err error) error {
	if ctx.Err() != nil && !IsRefused(err) {
		return ctx.Err()
	}
	return err
}
