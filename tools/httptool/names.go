package httptool

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"processidea/tools/placeholder"
)

// Parameters lists the names that the templates of the spec read, sorted; a
// dotted name is a path into a parameter.
func (s Spec) Parameters() []string {
	names := map[string]bool{}
	for _, text := range s.templates() {
		for _, part := range placeholder.Split(text) {
			if part.Name != "" {
				names[part.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Secrets lists the environment variables that the spec names, sorted.
func (s Spec) Secrets() []string {
	names := map[string]bool{}
	for _, text := range s.templates() {
		for _, name := range SecretsIn(text) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// templates are the strings of the spec in which names are read.
func (s Spec) templates() []string {
	texts := []string{s.URL}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		texts = append(texts, s.Headers[name])
	}
	return appendStrings(texts, s.Body)
}

func appendStrings(texts []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(texts, v)
	case []any:
		for _, item := range v {
			texts = appendStrings(texts, item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			texts = appendStrings(texts, v[name])
		}
	}
	return texts
}

const secretMark = "$env:"

var secretName = regexp.MustCompile(`\$env:([A-Za-z_][A-Za-z0-9_]*)`)

// checkSecrets refuses a $env: that no name follows: it would be sent as it is.
func checkSecrets(text string) error {
	if strings.Count(text, secretMark) != len(secretName.FindAllString(text, -1)) {
		return fmt.Errorf("%q: %s wants the name of a variable after it", text, secretMark)
	}
	for _, m := range secretName.FindAllStringSubmatch(text, -1) {
		if !forTools(m[1]) {
			return errors.New(notForTools(m[1]))
		}
	}
	return nil
}

// own begin the names of variables that are the program's and Temporal's own: a
// tool that is sent the keys of the encryption can read everything.
var own = []string{"PROCESSIDEA_", "TEMPORAL_"}

func forTools(name string) bool {
	for _, prefix := range own {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return true
}

func notForTools(name string) string {
	return fmt.Sprintf("environment variable %s is not for tools", name)
}

// SecretsVariable names the environment variable that lists what $env:NAME may name, with commas or spaces between:
// `SHOP_TOKEN, CRM_*`; * at the end stands for whatever follows.
const SecretsVariable = "PROCESSIDEA_TOOL_SECRETS"

// secretNames are the variables of the environment that tools may be given. All others are the worker's own: keys of LLMs, of
// clouds, of databases.
type secretNames struct{ names, prefixes []string }

var (
	oneSecret   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)
	betweenThem = func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }
)

// CheckSecretNames returns what is wrong with a list of secrets.
func CheckSecretNames(text string) error {
	_, err := parseSecretNames(text)
	return err
}

func parseSecretNames(text string) (s secretNames, err error) {
	for entry := range strings.FieldsFuncSeq(text, betweenThem) {
		prefix, open := strings.CutSuffix(entry, "*")
		switch {
		case !oneSecret.MatchString(entry):
			return secretNames{}, fmt.Errorf("httptool: parse %s: entry %q: it is no name of a variable, nor the beginning of one and a *", SecretsVariable, entry)
		case !forTools(prefix):
			return secretNames{}, fmt.Errorf("httptool: parse %s: entry %q: variables that begin like this are never for tools", SecretsVariable, entry)
		case open:
			s.prefixes = append(s.prefixes, prefix)
		default:
			s.names = append(s.names, entry)
		}
	}
	return s, nil
}

func (s secretNames) has(name string) bool {
	for _, n := range s.names {
		if n == name {
			return true
		}
	}
	for _, p := range s.prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// SecretsIn lists the variables that a text names, in their order.
func SecretsIn(text string) (names []string) {
	for _, m := range secretName.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}
