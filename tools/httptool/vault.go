package httptool

import (
	"errors"
	"maps"
	"net/url"
	"strings"
	"sync"

	"processidea/internal/secret"
	"processidea/model/jsonval"
)

// vault provides the secrets of one request and remembers them, so that they can be removed from its answers.
type vault struct {
	allowedSecrets        secretEntries
	lookupEnv             func(string) (string, bool)
	valueByName           map[string]string // name → value
	usedSecretValueByName *sync.Map         // name → value, shared by all requests of the client
}

// minRedactedSecretBytes is the minimum length, in bytes, of secrets that are removed from answers to other requests: a
// short one may occur there by chance.
const minRedactedSecretBytes = 8

// useSecret returns the variable's value without the line end that files have. suggestedHost is for the error, which
// says what to allow.
func (v *vault) useSecret(name, suggestedHost string) (string, error) {
	if !isVariableAllowedForTools(name) {
		return "", errors.New(reservedVariableText(name))
	}
	if !v.allowedSecrets.allowsName(name) {
		return "", notAllowedErrorf("environment variable %s may not be given to tools: whoever runs the worker adds "+
			"%s@%s to %s", name, name, suggestedHost, SecretsVariable)
	}
	value, ok := v.lookupEnv(name)
	value = strings.TrimRight(value, "\r\n")
	if !ok || value == "" {
		return "", notAllowedErrorf("environment variable %s is not set", name)
	}
	v.valueByName[name] = value
	if len(value) >= minRedactedSecretBytes {
		v.usedSecretValueByName.Store(name, value)
	}
	return value, nil
}

// checkSecretsMayGoTo returns an error if a secret in use may not be sent to the host of a URL, or not in plain text.
// nil means a program on this machine, at localhost.
func (v *vault) checkSecretsMayGoTo(u *url.URL) error {
	host, port, inPlainText := "localhost", "", false
	if u != nil {
		host, port = hostAndPort(u)
		inPlainText = sendsPlainText(u)
	}
	destination := host
	if port != "80" && port != "443" {
		destination = hostWithPort(host, port)
	}
	if inPlainText {
		destination = plainTextScheme + destination
	}
	for _, name := range jsonval.SortedKeys(v.valueByName) {
		switch {
		case v.allowedSecrets.mayReceive(name, host, port, inPlainText):
		case v.allowedSecrets.mayReceive(name, host, port, false):
			return notAllowedErrorf("environment variable %s may not be sent to %s in plain text: write https; or, to "+
				"allow it, the worker's operator adds %s@%s to %s",
				name, destination, name, destination, SecretsVariable)
		default:
			return notAllowedErrorf("environment variable %s may not be sent to %s: to allow it, the worker's "+
				"operator adds %s@%s to %s", name, destination, name, destination, SecretsVariable)
		}
	}
	return nil
}

// insertSecrets replaces every $env:NAME in a template's literal text. encode, if not nil, encodes the values.
func (v *vault) insertSecrets(text string, encodeForURL func(string) string) (string, error) {
	if !strings.Contains(text, secretPrefix) {
		return text, nil
	}
	var out strings.Builder
	offset := 0
	for _, m := range secretPattern.FindAllStringSubmatchIndex(text, -1) {
		value, err := v.useSecret(text[m[2]:m[3]], "HOST")
		if err != nil {
			return "", err
		}
		if encodeForURL != nil {
			value = encodeForURL(value)
		}
		out.WriteString(text[offset:m[0]])
		out.WriteString(value)
		offset = m[1]
	}
	out.WriteString(text[offset:])
	return out.String(), nil
}

// redactor removes the secrets of this request, and those that the client has used before: a server may store a secret
// of one request, and return it to another without secrets.
func (v *vault) redactor() *secret.Redactor {
	valueByName := maps.Clone(v.valueByName)
	for name, value := range v.usedSecretValueByName.Range {
		if _, isUsed := v.valueByName[name.(string)]; !isUsed {
			valueByName[name.(string)] = value.(string)
		}
	}
	return secret.NewRedactor(valueByName)
}

// containsSecret reports whether a text contains a secret.
func (v *vault) containsSecret(text string) bool { return v.redactor().RedactText(text) != text }
