package httptool

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"processidea/model/ideafile/placeholder"
)

// urlTemplate is a URL, cut where the meaning of its text changes: the base has no parameter, and a parameter cannot
// leave its segment or its place in the query.
type urlTemplate struct {
	schemeAndHost string   // scheme and host, or $env:NAME
	segments      []string // of the path, which begins with "/"; none without a path
	queryTemplate string
}

func splitURL(text string) (urlTemplate, error) {
	var t urlTemplate
	var rest string
	switch {
	case strings.HasPrefix(text, "http://"), strings.HasPrefix(text, "https://"):
		hostStart := strings.Index(text, "://") + 3
		baseEnd := len(text)
		if i := strings.IndexAny(text[hostStart:], "/?#"); i >= 0 {
			baseEnd = hostStart + i
		}
		t.schemeAndHost, rest = text[:baseEnd], text[baseEnd:]
	case secretPattern.MatchString(text) && strings.HasPrefix(text, secretPrefix):
		t.schemeAndHost = text[:secretPattern.FindStringIndex(text)[1]]
		rest = text[len(t.schemeAndHost):]
	case text == "":
		return t, errors.New("missing")
	default:
		return t, fmt.Errorf("%q does not begin with http://, https:// or $env:NAME", text)
	}
	if strings.ContainsAny(t.schemeAndHost, "{}@\\ ") || (rest != "" && rest[0] != '/' && rest[0] != '?') {
		return t, fmt.Errorf("%q: neither parameters nor a user may stand before the path", text)
	}
	if strings.Contains(rest, "#") || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return t, fmt.Errorf("%q: spaces and fragments have no place in it", text)
	}
	path, query, _ := strings.Cut(rest, "?")
	t.queryTemplate = query
	if path != "" {
		t.segments = strings.Split(path[1:], "/")
	}
	return t, t.checkWithOnesFilledIn()
}

// checkWithOnesFilledIn parses the URL with the digit 1 in place of every parameter and secret.
func (t urlTemplate) checkWithOnesFilledIn() error {
	fillWithOnes := func(text string) string {
		var b strings.Builder
		for _, part := range placeholder.Split(secretPattern.ReplaceAllString(text, "1")) {
			if part.PlaceholderName != "" {
				part.Text = "1"
			}
			b.WriteString(part.Text)
		}
		return b.String()
	}
	base := t.schemeAndHost
	if strings.HasPrefix(base, secretPrefix) {
		base = "http://1"
	}
	path := ""
	for _, segment := range t.segments {
		path += "/" + fillWithOnes(segment)
	}
	_, err := parseHTTPURL(fillWithOnes(base)+path, fillWithOnes(t.queryTemplate))
	return err
}

// parseHTTPURL parses a finished URL and refuses URLs that are not for HTTP.
func parseHTTPURL(address, query string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) { // its text repeats the URL, which may hold secrets
			err = inner.Err
		}
		return nil, fmt.Errorf("not a URL: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil || u.Opaque != "" {
		return nil, errors.New("not an http or https URL with a host and no user")
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" &&
		(err != nil || u.Port() != strconv.FormatUint(n, 10)) {
		return nil, fmt.Errorf("port %s: not from 1 to 65535", u.Port())
	}
	u.Fragment, u.RawFragment = "", ""
	if query != "" {
		u.RawQuery = query
	}
	u.RawQuery = encodeURLLiteral(u.RawQuery)
	return u, nil
}
