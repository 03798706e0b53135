package httptool

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestASpecIsReadFromJSONAndFromAValueTree(t *testing.T) {
	t.Parallel()
	want := Spec{URL: "https://h/{id}", Method: "PUT", Headers: map[string]string{"X-A": "b"},
		Body: map[string]any{"n": json.Number("1.0")}}
	text := `{"url":"https://h/{id}","method":"put","headers":{"X-A":"b"},"body":{"n":1.0}}`
	tree := map[string]any{"url": "https://h/{id}", "method": "put", "headers": map[string]any{"X-A": "b"},
		"body": map[string]any{"n": json.Number("1.0")}}
	for _, raw := range []any{json.RawMessage(text), tree, want} {
		if got, err := ParseSpec(raw); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseSpec(%T) = %+v, %v", raw, got, err)
		}
	}
}

func TestWhatIsWrongWithASpecIsSaidWithoutANetwork(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                                           "not an object",
		`null`:                                         "not an object",
		`{"url":`:                                      "not an object",
		`{}`:                                           "url: missing",
		`{"url":"https://h","verb":"GET"}`:             `unknown key "verb"`,
		`{"URL":"https://h"}`:                          `unknown key "URL"`,
		`{"url":7}`:                                    "url: a number does not fit",
		`{"url":"https://h","headers":{"A":1}}`:        "headers",
		`{"url":"ftp://h/x"}`:                          "does not begin with http",
		`{"url":"/users"}`:                             "does not begin with http",
		`{"url":"https:///x"}`:                         "not an http or https URL with a host",
		`{"url":"https://{host}/x"}`:                   "neither parameters nor a user",
		`{"url":"https://h{x}/y"}`:                     "neither parameters nor a user",
		`{"url":"https://u:p@h/y"}`:                    "neither parameters nor a user",
		`{"url":"$env:BASE{x}"}`:                       "neither parameters nor a user",
		`{"url":"$env:BASE.evil.org/"}`:                "neither parameters nor a user",
		`{"url":"x$env:BASE/"}`:                        "does not begin with http",
		`{"url":"https://h:99999/"}`:                   "port 99999",
		`{"url":"https://h/#top"}`:                     "fragments",
		`{"url":"https://h/a b"}`:                      "spaces",
		`{"url":"https://h/%zz"}`:                      "not a URL",
		`{"url":"https://h/$env:"}`:                    "wants the name of a variable",
		`{"url":"https://h","method":"TRACE"}`:         "method",
		`{"url":"https://h","method":"get","body":{}}`: "a GET request has none",
		`{"url":"https://h","headers":{"Host":"x"}}`:   `"Host" cannot be set`,
		`{"url":"https://h","headers":{"idempotency-KEY":"x"}}`: "cannot be set",
		`{"url":"https://h","headers":{"a b":"x"}}`:             "cannot be set",
		`{"url":"https://h","headers":{"A":"x\ny"}}`:            "not a header's value",
		`{"url":"https://h","headers":{"A":"Bearer $env:1"}}`:   "wants the name of a variable",
		`{"url":"https://h","body":{"a":["$env:"]}}`:            "wants the name of a variable",
		`{"url":"https://h"} {}`:                                "not an object",
	} {
		_, err := ParseSpec(json.RawMessage(text))
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "httptool: parse spec: ") {
			t.Errorf("ParseSpec(%s): %v, want %q", text, err, want)
		}
	}
}

func TestASpecNamesItsParametersAndItsSecrets(t *testing.T) {
	t.Parallel()
	s := parse(t, `{"url":"$env:BASE/u/{id}?q={user.name}&k=$env:KEY","headers":{"A":"Bearer $env:TOKEN","B":"{id}"},
		"body":{"x":["{note}","{{literal}}"],"y":"$env:TOKEN of {id}"}}`)
	if got := s.ParameterNames(); !reflect.DeepEqual(got, []string{"id", "note", "user.name"}) {
		t.Errorf("parameters %q", got)
	}
	if got := s.SecretNames(); !reflect.DeepEqual(got, []string{"BASE", "KEY", "TOKEN"}) {
		t.Errorf("secrets %q", got)
	}
}

func TestASpecMadeByHandIsCheckedWhenItIsUsed(t *testing.T) {
	t.Parallel()
	e := asError(t, func() error {
		_, err := New(Options{}).Do(bg, Spec{URL: "gopher://h"}, nil, nil, "k")
		return err
	}())
	if e.IsRetryable || !strings.Contains(e.Error(), "does not begin with http") {
		t.Errorf("%v", e)
	}
}
