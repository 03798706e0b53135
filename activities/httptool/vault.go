package httptool

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the least length of a value that is struck out: shorter ones are
// no secrets, and striking out every "1" would spoil results.
const minSecret = 4

// vault hands out the secrets of one request and remembers them, so that they
// can be struck out of what comes back.
type vault struct {
	lookup func(string) (string, bool)
	used   map[string]string // name → value
}

// secret is the variable's value without a line end, as files leave one.
func (v *vault) secret(name string) (string, error) {
	value, ok := v.lookup(name)
	value = strings.TrimRight(value, "\r\n")
	if !ok || value == "" {
		return "", fmt.Errorf("environment variable %s is not set", name)
	}
	v.used[name] = value
	return value, nil
}

// put replaces every $env:NAME of a template's literal text; encode may be nil.
func (v *vault) put(text string, encode func(string) string) (string, error) {
	if !strings.Contains(text, secretMark) {
		return text, nil
	}
	var out strings.Builder
	at := 0
	for _, m := range secretName.FindAllStringSubmatchIndex(text, -1) {
		value, err := v.secret(text[m[2]:m[3]])
		if err != nil {
			return "", err
		}
		if encode != nil {
			value = encode(value)
		}
		out.WriteString(text[at:m[0]])
		out.WriteString(value)
		at = m[1]
	}
	out.WriteString(text[at:])
	return out.String(), nil
}

// striker replaces the used secrets, however they may be written, by
// `[secret NAME]`; nil where none was used.
func (v *vault) striker() *strings.Replacer {
	type pair struct{ old, new string }
	var pairs []pair
	for name, value := range v.used {
		if len(value) < minSecret {
			continue
		}
		quoted, _ := json.Marshal(value)
		for _, form := range []string{value, escape(value), url.PathEscape(value), url.QueryEscape(value),
			string(quoted[1 : len(quoted)-1]), base64.StdEncoding.EncodeToString([]byte(value))} {
			pairs = append(pairs, pair{form, "[secret " + name + "]"})
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	// The longest first: a secret may be the beginning of another.
	slices.SortFunc(pairs, func(a, b pair) int {
		if len(a.old) != len(b.old) {
			return len(b.old) - len(a.old)
		}
		return strings.Compare(a.old+a.new, b.old+b.new)
	})
	var all []string
	for _, p := range pairs {
		all = append(all, p.old, p.new)
	}
	return strings.NewReplacer(all...)
}

func (v *vault) strikeText(text string) string {
	if r := v.striker(); r != nil {
		return r.Replace(text)
	}
	return text
}

// holds says whether a secret stands in a text.
func (v *vault) holds(text string) bool { return v.strikeText(text) != text }

// strikeValue strikes the secrets out of every string, key and number of a tree.
func (v *vault) strikeValue(value any) any {
	if r := v.striker(); r != nil {
		return strike(r, value)
	}
	return value
}

func strike(r *strings.Replacer, value any) any {
	switch value := value.(type) {
	case string:
		return r.Replace(value)
	case json.Number:
		if struck := r.Replace(value.String()); struck != value.String() {
			return struck
		}
	case []any:
		for i, item := range value {
			value[i] = strike(r, item)
		}
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, item := range value {
			out[r.Replace(name)] = strike(r, item)
		}
		return out
	}
	return value
}
