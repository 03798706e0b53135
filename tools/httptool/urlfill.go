package httptool

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"processidea/model/ideafile/placeholder"
)

// fillURL returns the request's URL. Parameters that no template has used are added to the query if the method carries
// its parameters there.
func fillURL(s Spec, f *templateFiller) (*url.URL, error) {
	t, err := splitURL(s.URL)
	if err != nil {
		return nil, err
	}
	base, err := f.vault.insertSecrets(t.schemeAndHost, nil)
	if err != nil {
		return nil, err
	}
	if u, err := parseHTTPURL(base, ""); err != nil || u.RawQuery != "" || u.ForceQuery {
		return nil, errors.New("what stands before the path is not an http or https URL")
	}
	path, err := fillPath(t.segments, f)
	if err != nil {
		return nil, err
	}
	query, err := fillQuery(t.queryTemplate, f)
	if err != nil {
		return nil, err
	}
	if s.sendsParamsInQuery() {
		query = append(query, f.unusedParamPairs()...)
	}
	u, err := parseHTTPURL(strings.TrimSuffix(base, "/")+path, strings.Join(query, "&"))
	if err == nil && !strings.HasSuffix(u.EscapedPath(), path) {
		err = errors.New("the path cannot be sent as it is written") // an encoded slash must never become a plain one
	}
	return u, err
}

func fillPath(segments []string, f *templateFiller) (string, error) {
	var path strings.Builder
	for _, segment := range segments {
		text, hasParam, err := f.fillText(segment, encodeURLPart)
		if err != nil {
			return "", err
		}
		// A dot segment cannot be encoded: servers treat %2E as a dot, and climb to the parent folder.
		unescaped, err := url.PathUnescape(text)
		if hasParam && (err != nil || unescaped == "" || unescaped == "." || unescaped == "..") {
			return "", fmt.Errorf("parameters make %q of the path segment %q: a segment may not be empty, "+
				`"." or ".."`, text, segment)
		}
		path.WriteString("/" + text)
	}
	return path.String(), nil
}

// fillQuery fills the pairs of the query. A value that consists of one parameter is left out if the parameter is absent
// or null, and repeated for each item of a list.
func fillQuery(query string, f *templateFiller) ([]string, error) {
	var pairs []string
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if pair == "" {
			continue
		}
		if name, ok := solePlaceholder(value); ok {
			key, _, err := f.fillText(key, encodeURLPart)
			if err != nil {
				return nil, err
			}
			v, _ := f.findParam(name)
			pairs = append(pairs, queryPairs(key, v)...)
			continue
		}
		text, _, err := f.fillText(pair, encodeURLPart)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, text)
	}
	return pairs, nil
}

// queryPairs encodes a value for a query: null is left out, a list becomes one pair for each item, an object becomes
// JSON.
func queryPairs(key string, v any) []string {
	items, ok := v.([]any)
	if !ok {
		items = []any{v}
	}
	var pairs []string
	for _, item := range items {
		if item != nil {
			pairs = append(pairs, key+"="+encodeURLPart(placeholder.FormatValue(item)))
		}
	}
	return pairs
}

// unusedParamPairs returns the query pairs of the parameters that no template has used.
func (f *templateFiller) unusedParamPairs() []string {
	unusedParams := maps.Clone(f.params)
	maps.DeleteFunc(unusedParams, func(name string, _ any) bool { return f.usedParams[name] })
	return formPairs(unusedParams)
}
