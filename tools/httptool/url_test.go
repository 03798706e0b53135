package httptool

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func fillFor(text, method string, params map[string]any, env map[string]string) (string, error) {
	s, err := ParseSpec(map[string]any{"url": text, "method": method})
	if err != nil {
		return "", err
	}
	allowed, err := parseSecretEntries(secretsFor(append(slices.Collect(maps.Keys(env)), "NOT_THERE")))
	if err != nil {
		return "", err
	}
	v := &vault{allowedSecrets: allowed, valueByName: map[string]string{}, usedSecretValueByName: &sync.Map{},
		lookupEnv: func(n string) (string, bool) { x, ok := env[n]; return x, ok }}
	u, err := fillURL(s, &templateFiller{params: params, vault: v, usedParams: map[string]bool{}})
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

func TestParametersArePercentEncodedInTheirPlace(t *testing.T) {
	t.Parallel()
	params := map[string]any{
		"id": "a/b", "q": "x&y=z", "up": "../..", "odd": "ä %+#?;", "n": json.Number("1.50"), "yes": true, "none": nil,
		"tags": []any{"a b", json.Number("2"), nil}, "user": map[string]any{"id": "7"}, "名": "值",
	}
	env := map[string]string{"BASE": "http://base:81/v1/", "KEY": "a/b&c", "HOST": "h.example:8443"}
	for template, want := range map[string]string{
		"http://h/u/{id}":                 "http://h/u/a%2Fb",
		"http://h/u/{id}/x.{n}":           "http://h/u/a%2Fb/x.1.50",
		"http://h/u/{up}":                 "http://h/u/..%2F..",
		"http://h/{odd}":                  "http://h/%C3%A4%20%25%2B%23%3F%3B",
		"http://h/é/{id}":                 "http://h/%C3%A9/a%2Fb",
		`http://h/<"^|>/{id}`:             "http://h/%3C%22%5E%7C%3E/a%2Fb",
		"http://h/a%2Fb/{id}":             "http://h/a%2Fb/a%2Fb",
		"http://h/{名}":                    "http://h/%E5%80%BC",
		"http://h/{user.id}":              "http://h/7",
		"http://h/{{id}}":                 "http://h/%7Bid%7D",
		"http://h?q={q}":                  "http://h?q=x%26y%3Dz",
		"http://h/?q={q}&ok={yes}&n={n}":  "http://h/?q=x%26y%3Dz&ok=true&n=1.50",
		"http://h/?t={tags}":              "http://h/?t=a%20b&t=2",
		"http://h/?u={user}":              "http://h/?u=%7B%22id%22%3A%227%22%7D",
		"http://h/?a={absent}&b={none}":   "http://h/",
		"http://h/?a={absent}&{id}=1&c":   "http://h/?a%2Fb=1&c",
		"http://h/?é=1&f[x]=2":            "http://h/?%C3%A9=1&f[x]=2",
		"http://h/?s=-{q}-":               "http://h/?s=-x%26y%3Dz-",
		"$env:BASE/users/{id}":            "http://base:81/v1/users/a%2Fb",
		"$env:BASE?k=$env:KEY":            "http://base:81/v1?k=a%2Fb%26c",
		"http://$env:HOST/k/$env:KEY/{n}": "http://h.example:8443/k/a%2Fb%26c/1.50",
		"http://h:8080":                   "http://h:8080",
	} {
		if got, err := fillFor(template, "POST", params, env); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", template, got, err, want)
		}
	}
}

func TestAParameterThatLeavesNoSegmentIsRefused(t *testing.T) {
	t.Parallel()
	env := map[string]string{"FTP": "ftp://h", "QUERY": "http://h?a=", "USER": "http://u:p@h", "EMPTY": ""}
	for template, want := range map[string]string{
		"http://h/u/{dots}":        `parameters make ".." of the path segment`,
		"http://h/u/{dot}{dot}/x":  `parameters make ".." of the path segment`,
		"http://h/u/.{dot}":        `parameters make ".." of the path segment`,
		"http://h/u/%2e{dot}":      `path segment`,
		"http://h/u/{dot}":         `parameters make "." of the path segment`,
		"http://h/u/{empty}/x":     `parameters make "" of the path segment`,
		"http://h/u/{absent}":      `parameter "absent" is missing`,
		"http://h/u/{null}":        `parameter "null" is missing`,
		"http://h/u/{list}":        `parameter "list" is a list or an object`,
		"http://h/u/{object}":      `parameter "object" is a list or an object`,
		"http://h/?q=x{absent}":    `parameter "absent" is missing`,
		"http://h/$env:NOT_THERE/": "environment variable NOT_THERE is not set",
		"http://h/$env:EMPTY/":     "environment variable EMPTY is not set",
		"$env:FTP/x":               "not an http or https URL",
		"$env:QUERY/x":             "not an http or https URL",
		"$env:USER/x":              "not an http or https URL",
	} {
		params := object(t, `{"dots":"..","dot":".","empty":"","null":null,"list":[1],"object":{"a":1}}`)
		if got, err := fillFor(template, "POST", params, env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want %q", template, got, err, want)
		}
	}
}

func TestNoParameterCanChangeTheHostOrThePlacesOfAURL(t *testing.T) {
	t.Parallel()
	hostile := rapid.OneOf(
		rapid.StringOf(rapid.RuneFrom([]rune(`./\?#%@:&=;{}$ evn2FfEeé界`+"\r\n\t\x00"))),
		rapid.SampledFrom([]string{"..", "../..", "..%2f", "%2e%2e", "//evil.org", "\\\\evil.org", "@evil.org",
			"$env:KEY", "{b}", "#", "?x=1"}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := hostile.Draw(t, "a"), hostile.Draw(t, "b"), hostile.Draw(t, "c")
		got, err := fillFor("http://host.example:8080/one/{a}/two-{b}/end?q={c}&z=1", "POST",
			map[string]any{"a": a, "b": b, "c": c}, map[string]string{"KEY": "secret"})
		if err != nil {
			if a != "" && a != "." && a != ".." {
				t.Fatalf("refused %q %q %q: %v", a, b, c, err)
			}
			return
		}
		u, err := url.Parse(got)
		if err != nil {
			t.Fatal(err)
		}
		segments := strings.Split(u.EscapedPath(), "/")
		if u.Host != "host.example:8080" || len(segments) != 5 || u.Fragment != "" || u.User != nil {
			t.Fatalf("%q %q %q made %s", a, b, c, got)
		}
		for i, want := range []string{"", "one", a, "two-" + b, "end"} {
			if plain, err := url.PathUnescape(segments[i]); err != nil || plain != want {
				t.Fatalf("segment %d is %q, want %q", i, plain, want)
			}
		}
		if u.RawQuery != "q="+encodeURLPart(c)+"&z=1" || u.Query().Get("q") != c {
			t.Fatalf("%q made the query %s", c, u.RawQuery)
		}
	})
}

func FuzzEscapedTextIsOneSegmentAndComesBack(f *testing.F) {
	for _, s := range []string{"", "..", "a/b?c#d", "%2F", "é", "\xff", "{a}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := encodeURLPart(s)
		if strings.ContainsAny(e, "/?#&=+@:\\ {}") {
			t.Fatalf("%q became %q", s, e)
		}
		if back, err := url.PathUnescape(e); err != nil || back != s {
			t.Fatalf("%q came back as %q, %v", s, back, err)
		}
		if encodeURLLiteral(e) != e {
			t.Fatalf("%q is encoded twice", e)
		}
	})
}
