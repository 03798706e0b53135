package httptool

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"processidea/model/ideafile/placeholder"
	"processidea/model/jsonval"
)

// ParameterNames lists the names in the templates of the spec, sorted. A dotted name is a path into a parameter.
func (s Spec) ParameterNames() []string {
	names := map[string]bool{}
	for _, t := range s.templateTexts() {
		for _, part := range placeholder.Split(t.text) {
			if part.PlaceholderName != "" {
				names[part.PlaceholderName] = true
			}
		}
	}
	return jsonval.SortedKeys(names)
}

// SecretNames lists the environment variables that the spec names, sorted.
func (s Spec) SecretNames() []string {
	names := map[string]bool{}
	for _, t := range s.templateTexts() {
		for _, name := range SecretNamesIn(t.text) {
			names[name] = true
		}
	}
	return jsonval.SortedKeys(names)
}

// templateText is a string of a spec that may contain names, and its path.
type templateText struct{ path, text string }

func (s Spec) templateTexts() []templateText {
	list := []templateText{{".url", s.URL}}
	for _, name := range jsonval.SortedKeys(s.Headers) {
		list = append(list, templateText{jsonval.JSONPathWithKey(".headers", name), s.Headers[name]})
	}
	for _, text := range appendStrings(nil, s.Body) {
		list = append(list, templateText{".body", text})
	}
	return list
}

func appendStrings(texts []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(texts, v)
	case []any:
		for _, item := range v {
			texts = appendStrings(texts, item)
		}
	case jsonval.Object:
		for _, name := range jsonval.SortedKeys(v) {
			texts = appendStrings(texts, v[name])
		}
	}
	return texts
}

const secretPrefix = "$env:"

var secretPattern = regexp.MustCompile(`\$env:([A-Za-z_][A-Za-z0-9_]*)`)

// CheckSecretReferences refuses a text with a $env: that no name follows, as it would be sent literally, or with a
// variable that is not for tools.
func CheckSecretReferences(text string) error {
	if strings.Count(text, secretPrefix) != len(secretPattern.FindAllString(text, -1)) {
		return fmt.Errorf("%q: %s wants the name of a variable after it", text, secretPrefix)
	}
	for _, m := range secretPattern.FindAllStringSubmatch(text, -1) {
		if !isVariableAllowedForTools(m[1]) {
			return errors.New(reservedVariableText(m[1]))
		}
	}
	return nil
}

// reservedVariablePrefixes begin the names of the program's own and Temporal's variables: a tool that received the
// encryption keys could read everything.
var reservedVariablePrefixes = []string{"PROCESSIDEA_", "TEMPORAL_"}

func isVariableAllowedForTools(name string) bool {
	return !slices.ContainsFunc(reservedVariablePrefixes, func(prefix string) bool {
		return strings.HasPrefix(name,
			prefix)
	})
}

func reservedVariableText(name string) string {
	return fmt.Sprintf("environment variable %s is not for tools", name)
}

// SecretsVariable is the environment variable that lists the names allowed in $env:NAME and the hosts that may receive
// them, separated by commas or spaces: `SHOP_TOKEN@shop.example.com, CRM_*@*.crm.example`. * at the end of a name
// matches any suffix; hosts are written as in AllowListVariable, and @* is any host. http:// before a host allows
// sending a secret there in plain text, which is always allowed to this machine. A program that the worker starts
// counts as localhost.
const SecretsVariable = "PROCESSIDEA_TOOL_SECRETS"

// secretEntries are the environment variables that tools may receive, with the hosts that each may be sent to. All
// others are the worker's own: keys of LLMs, of clouds, of databases.
type secretEntries []secretEntry

type secretEntry struct {
	name            string
	isPrefix        bool // name is a prefix of names
	allowsPlainText bool // the hosts may receive it in plain text
	allowedHosts    *allowList
}

var (
	secretNamePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)
	isListSeparator   = func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }
)

// CheckSecretEntries returns the error in a list of secrets, and the entries whose secrets any host may receive.
func CheckSecretEntries(text string) (unrestrictedEntries []string, err error) {
	list, err := parseSecretEntries(text)
	for _, e := range list {
		if e.allowedHosts.allowsAllPublic {
			unrestrictedEntries = append(unrestrictedEntries, e.String())
		}
	}
	return unrestrictedEntries, err
}

func (e secretEntry) String() string {
	if e.isPrefix {
		return e.name + "*"
	}
	return e.name
}

func parseSecretEntries(text string) (list secretEntries, err error) {
	for entry := range strings.FieldsFuncSeq(text, isListSeparator) {
		name, host, hasHost := strings.Cut(entry, "@")
		e := secretEntry{allowedHosts: &allowList{allowedHosts: map[string]bool{}}}
		e.name, e.isPrefix = strings.CutSuffix(name, "*")
		host, e.allowsPlainText = strings.CutPrefix(host, plainTextScheme)
		switch {
		case !secretNamePattern.MatchString(name):
			err = errors.New("want NAME@HOST, where NAME is a variable, or the beginning of one and a *")
		case !isVariableAllowedForTools(e.name):
			err = errors.New("variables that begin like this are never for tools")
		case !hasHost:
			err = fmt.Errorf(
				"it does not say which host may receive it: write %s@shop.example.com, or %s@* for any host",
				name, name)
		default:
			err = e.allowedHosts.addEntry(host)
		}
		if err != nil {
			return nil, fmt.Errorf("httptool: parse %s: entry %q: %w", SecretsVariable, entry, err)
		}
		list = append(list, e)
	}
	return list, nil
}

func (s secretEntries) allowsName(name string) bool { return len(s.entriesMatching(name)) > 0 }

// entriesMatching returns the entries that match a name.
func (s secretEntries) entriesMatching(name string) (list secretEntries) {
	for _, e := range s {
		if e.name == name || e.isPrefix && strings.HasPrefix(name, e.name) {
			list = append(list, e)
		}
	}
	return list
}

// mayReceive reports whether a host may receive the secret with a name; with plain, in plain text.
func (s secretEntries) mayReceive(name, host, port string, inPlainText bool) bool {
	return slices.ContainsFunc(s.entriesMatching(name), func(e secretEntry) bool {
		return e.allowedHosts.allowsHost(host, port) && (!inPlainText || e.allowsPlainText ||
			e.allowedHosts.allowsAllPublic)
	})
}

const plainTextScheme = "http://"

// sendsPlainText reports whether others can read what is sent to a URL.
func sendsPlainText(u *url.URL) bool {
	host := normalizeHost(u.Hostname())
	ip, err := netip.ParseAddr(host)
	return u.Scheme == "http" && host != "localhost" && (err != nil || !ip.IsLoopback())
}

// HostOf returns the host of a server's address, in the form of AllowListVariable. It is "localhost" for a program on
// this machine, which has an empty address, and "HOST" if the host depends on a Call's parameters or secrets.
func HostOf(address string) string { return strings.TrimPrefix(SecretHostOf(address), plainTextScheme) }

// SecretHostOf is HostOf in the form of SecretsVariable.
func SecretHostOf(address string) string {
	if address == "" {
		return "localhost"
	}
	scheme, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	if host, _, _ = strings.Cut(host, "?"); strings.ContainsAny(host, "{}$") {
		return "HOST"
	}
	u, err := parseHTTPURL(scheme+"://"+host, "")
	if err != nil {
		return "HOST"
	}
	secretHost := hostWithPort(normalizeHost(u.Hostname()), u.Port())
	if sendsPlainText(u) {
		secretHost = plainTextScheme + secretHost
	}
	return secretHost
}

// SecretNamesIn lists the variables that a text names, in order.
func SecretNamesIn(text string) (names []string) {
	for _, m := range secretPattern.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}
