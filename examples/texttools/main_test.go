package texttools

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"processidea/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var bg = context.Background()

// tree decodes JSON as the engine does.
func tree(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func params(t *testing.T, text string) map[string]any {
	t.Helper()
	return tree(t, text).(map[string]any)
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

func tool(t *testing.T, name string) *tools.Tool {
	t.Helper()
	r := tools.NewRegistry()
	Register(r)
	found, ok := r.Lookup(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	return found
}

// call runs a tool on JSON and gives its result as JSON.
func call(t *testing.T, name, text string) (string, error) {
	t.Helper()
	result, err := tool(t, name).Call(bg, params(t, text))
	if err != nil {
		return "", err
	}
	return encoded(t, result), nil
}

func TestATextThatIsTooLongToSearchIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxAnalyzedTextBytes+1)
	for name, params := range map[string]map[string]any{
		"matchWords":       {"text": long, "words": []any{"x"}},
		"findSimilar":      {"text": "a", "texts": []any{"a", long}},
		"analyzeSentiment": {"text": long},
		"scoreSentiment":   {"text": long},
	} {
		if _, err := tool(t, name).Call(bg, params); err == nil || !tools.IsFinal(err) ||
			!strings.Contains(err.Error(), "are too many to search at once") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := tool(t, "matchWords").Call(bg, map[string]any{"text": "x", "words": []any{long}}); err == nil ||
		!strings.Contains(err.Error(), "words:") {
		t.Errorf("words: %v", err)
	}
}
