package builtin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"processidea/tools"
)

func TestATemplateIsFilledWithValues(t *testing.T) {
	t.Parallel()
	values := `{"name":"Ada {price} †state.x","price":12.50,"user":{"tags":["x","y"]},"none":null,"ok":true}`
	for template, want := range map[string]string{
		"Dear {name}, {price} €": "Dear Ada {price} †state.x, 12.50 €",
		"{user.tags.1} {user}":   `y {"tags":["x","y"]}`,
		"{none}|{ok}":            "|true",
		`{{name}} {"a":1} { x }`: `{name} {"a":1} { x }`,
		"":                       "",
	} {
		if got, err := call(t, "formatText", `{"template":`+encoded(t, template)+`,"values":`+values+`}`); err != nil ||
			got != encoded(t, want) {
			t.Errorf("%s: %s, %v, want %s", template, got, err, want)
		}
	}
	for _, template := range []string{"{nobody}", "{user.tags.2}", "{name.first}"} {
		if _, err := call(t, "formatText", `{"template":"`+template+`","values":`+values+`}`); err == nil ||
			!tools.IsFinal(err) || !strings.Contains(err.Error(), "the values have no") {
			t.Errorf("%s: %v", template, err)
		}
	}
}

func TestATextThatWouldBecomeTooLargeIsRefusedBeforeItIsMade(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 60<<10)
	for _, template := range []string{strings.Repeat("{a}", 100_000), strings.Repeat("{b.c}", 100_000),
		strings.Repeat("{b}", 100_000)} {
		_, err := builtin(t, "formatText").Call(bg,
			map[string]any{"template": template, "values": map[string]any{"a": long, "b": map[string]any{"c": long}}})
		if err == nil || !tools.IsFinal(err) ||
			!strings.Contains(err.Error(), "the result would have more than 20 MB") {
			t.Errorf("got %v", err)
		}
	}
	if v, err := builtin(t, "formatText").Call(bg,
		map[string]any{"template": strings.Repeat("{a}", 100), "values": map[string]any{"a": long}}); err != nil ||
		len(v.(string)) != 100*len(long) {
		t.Errorf("a text of 6 MB: %v", err)
	}
}

func TestTheTimeIsToldInItsZoneAndFormat(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 22, 30, 5, 0, time.UTC)
	for _, row := range []struct{ zone, format, want string }{
		{"", "", "2026-07-01T22:30:05Z"},
		{"UTC", "", "2026-07-01T22:30:05Z"},
		{"Europe/Berlin", "", "2026-07-02T00:30:05+02:00"},
		{"Asia/Shanghai", "%Y-%m-%d %H:%M %z", "2026-07-02 06:30 +0800"},
		{"", "%s", "1782945005"},
	} {
		if got, err := formatTime(now, currentTimeParams{row.zone, row.format}); err != nil || got != row.want {
			t.Errorf("%+v: %s, %v", row, got, err)
		}
	}
	for _, zone := range []string{"Local", "local", "Mars/Base", "../../etc/passwd", "CEST"} {
		if got, err := formatTime(now, currentTimeParams{Zone: zone}); err == nil || !tools.IsFinal(err) {
			t.Errorf("%s: %s, %v", zone, got, err)
		}
	}
	before := time.Now().Truncate(time.Second)
	got, err := builtin(t, "currentTime").Call(bg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := time.Parse(time.RFC3339, got.(string)); err != nil || at.Before(before) || at.After(time.Now()) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestANoteIsItsRecord(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"text":"Look at ②"}`:              `{"noted":true,"text":"Look at ②"}`,
		`{"text":"Look","title":"Refunds"}`: `{"noted":true,"text":"Look","title":"Refunds"}`,
	} {
		if got, err := call(t, "note", params); err != nil || got != want {
			t.Errorf("%s: %s, %v", params, got, err)
		}
	}
	if _, err := call(t, "note", `{"text":" \n"}`); err == nil || !tools.IsFinal(err) {
		t.Errorf("an empty note: %v", err)
	}
}

type getter func(url string) (int, string, string, error)

func (g getter) Get(_ context.Context, url string) (int, string, string, error) { return g(url) }

func TestFetchGivesWhatItsClientGot(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	r := tools.NewRegistry()
	Register(r, getter(func(url string) (int, string, string, error) {
		switch url {
		case "https://a.org/x":
			return 404, "text/plain", "not here", nil
		case "https://refused.org":
			return 0, "", "", tools.Final(errors.New("refused"))
		}
		return 0, "", "", down
	}))
	tool, _ := r.Lookup("fetch")
	got, err := tool.Call(bg, map[string]any{"url": "https://a.org/x"})
	if err != nil || encoded(t, got) != `{"body":"not here","contentType":"text/plain","status":404}` {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := tool.Call(bg, map[string]any{"url": "https://b.org"}); !errors.Is(err, down) || tools.IsFinal(err) {
		t.Errorf("a client's error is retried: %v", err)
	}
	if _, err := tool.Call(bg, map[string]any{"url": "https://refused.org"}); !tools.IsFinal(err) {
		t.Errorf("a client's final error is final: %v", err)
	}
	without := tools.NewRegistry()
	Register(without, nil)
	if _, ok := without.Lookup("fetch"); ok {
		t.Error("there is no fetch without a client")
	}
}
