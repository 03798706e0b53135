package httptool

import (
	"net/http"
	"strings"
	"testing"
)

func TestParametersTravelAsTheMethodCarriesThem(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, nil)
	c := client(t, map[string]string{"TOKEN": "t0p-secret"}, s)
	params := `{"id":"7/8","note":"a<b","n":1.50,"gone":null,"tags":["x","y"]}`
	for _, row := range []struct{ name, spec, scopes, uri, body string }{
		{"without a body the parameters are the JSON body, those of the URL too", `{"url":"U/u/{id}"}`, ``,
			"/u/7%2F8", `{"gone":null,"id":"7/8","n":1.50,"note":"a<b","tags":["x","y"]}`},
		{"scopes are the field _scopes of the body", `{"url":"U/"}`, `{"state.user":{"a":1}}`,
			"/", `{"_scopes":{"state.user":{"a":1}},"gone":null,"id":"7/8","n":1.50,"note":"a<b","tags":["x","y"]}`},
		{"a GET carries them in the query, and none twice", `{"url":"U/u/{id}","method":"GET"}`, `{"state":1}`,
			"/u/7%2F8?n=1.50&note=a%3Cb&tags=x&tags=y", ""},
		{"what a header has read is not repeated", `{"url":"U/u?z=1","method":"GET","headers":{"X-Id":"{id}"}}`, ``,
			"/u?z=1&n=1.50&note=a%3Cb&tags=x&tags=y", ""},
		{"a HEAD does as a GET", `{"url":"U/{id}/{n}/{note}","method":"HEAD"}`, ``,
			"/7%2F8/1.50/a%3Cb?tags=x&tags=y", ""},
		{"a DELETE does as a GET", `{"url":"U/{id}/{n}/{note}","method":"DELETE"}`, ``,
			"/7%2F8/1.50/a%3Cb?tags=x&tags=y", ""},
		{"a DELETE with a body has no query", `{"url":"U/{id}","method":"DELETE","body":{"n":"{n}"}}`, ``, "/7%2F8",
			`{"n":1.50}`},
		{"a body's placeholder keeps the type of its value",
			`{"url":"U","body":{"a":"{n}","b":"{tags}","c":"{gone}","d":["{n}","{id}"]}}`, ``,
			"/", `{"a":1.50,"b":["x","y"],"c":null,"d":[1.50,"7/8"]}`},
		{"an absent parameter leaves its key and its item out",
			`{"url":"U","body":{"a":"{absent}","b":["{absent}","{n}"],"c":1}}`, ``,
			"/", `{"b":[1.50],"c":1}`},
		{"text around a placeholder makes it text",
			`{"url":"U","body":{"a":"no. {n} of {id}","b":"{{n}}","c":"{ n }"}}`, ``,
			"/", `{"a":"no. 1.50 of 7/8","b":"{n}","c":"{ n }"}`},
		{"scopes join an object of a template", `{"url":"U","body":{"a":"{n}"}}`, `{"input":2}`, "/",
			`{"_scopes":{"input":2},"a":1.50}`},
		{"scopes do not join what is no object", `{"url":"U","body":["{n}"]}`, `{"input":2}`, "/", `[1.50]`},
		{"a whole body may be one parameter", `{"url":"U","body":"{tags}"}`, ``, "/", `["x","y"]`},
		{"secrets stand in bodies too", `{"url":"U","body":{"k":"key $env:TOKEN"}}`, ``, "/", `{"k":"key t0p-secret"}`},
		{"a form is written as one",
			`{"url":"U","headers":{"Content-Type":"application/x-www-form-urlencoded"},"body":{"a b":"{note}","t":"{tags}"}}`, ``,
			"/", "a%20b=a%3Cb&t=x&t=y"},
		{"text of another type is sent as it is",
			`{"url":"U","headers":{"content-type":"text/plain"},"body":"note: {note}"}`, ``, "/", "note: a<b"},
	} {
		var scopes map[string]any
		if row.scopes != "" {
			scopes = object(t, row.scopes)
		}
		_, err := c.Do(bg, parse(t, strings.ReplaceAll(row.spec, "U", s.URL)), object(t, params), scopes, "p/main/1.1")
		all := asked.take()
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %v, %d requests", row.name, err, len(all))
			continue
		}
		if got := all[0]; got.URI != row.uri || got.Body != row.body {
			t.Errorf("%s: %s %s %s", row.name, got.Method, got.URI, got.Body)
		}
	}
}

func TestNoParametersAreAnEmptyObject(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, nil)
	if _, err := client(t, nil, s).Do(bg, Spec{URL: s.URL}, nil, nil, "k"); err != nil {
		t.Fatal(err)
	}
	if got := asked.take()[0]; got.Body != "{}" || got.Method != "POST" ||
		got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", got)
	}
}

func TestEveryRequestCarriesItsIdempotencyKey(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, nil)
	c := client(t, nil, s)
	for key, want := range map[string]string{
		"p/%E2%91%A0/3.2%40x": "p/%E2%91%A0/3.2%40x",
		"p/①/3.2@①":           "p/%E2%91%A0/3.2@%E2%91%A0",
		"a b\r\nX: y":         "a%20b%0D%0AX:%20y",
	} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			if _, err := c.Do(bg, Spec{URL: s.URL, Method: method}, nil, nil, key); err != nil {
				t.Fatal(err)
			}
			if got := asked.take()[0].Header["Idempotency-Key"]; len(got) != 1 || got[0] != want {
				t.Errorf("%s %q: %q", method, key, got)
			}
		}
	}
}

func TestHeadersAreTheToolsOwn(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, nil)
	c := client(t, map[string]string{"TOKEN": "abcdef\n"}, s)
	spec := Spec{URL: s.URL, Headers: map[string]string{
		"Authorization": "Bearer $env:TOKEN", "Accept": "text/csv", "X-User": "{user.name}", "X-Gone": "{absent}",
		"User-Agent": "mine",
	}}
	if _, err := c.Do(bg, spec, object(t, `{"user":{"name":"Ada"}}`), nil, "k"); err != nil {
		t.Fatal(err)
	}
	h := asked.take()[0].Header
	if h.Get("Authorization") != "Bearer abcdef" || h.Get("Accept") != "text/csv" || h.Get("X-User") != "Ada" ||
		h.Get("User-Agent") != "mine" {
		t.Errorf("%v", h)
	}
	if _, ok := h["X-Gone"]; ok {
		t.Error("a header whose one parameter is absent was sent")
	}
	e := asError(t, func() error {
		_, err := c.Do(bg, spec, object(t, `{"user":{"name":"a\r\nX-Admin: 1"}}`), nil, "k")
		return err
	}())
	if e.IsRetryable || len(asked.take()) != 0 || !strings.Contains(e.Error(), "header X-User") {
		t.Errorf("a line break in a header: %v", e)
	}
}

func TestWhatDataHoldsIsNeverReadAsATemplate(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, nil)
	c := client(t, map[string]string{"TOKEN": "t0p-secret"}, s)
	params := object(t, `{"a":"$env:TOKEN {b}","b":"B"}`)
	for _, spec := range []Spec{
		{URL: s.URL + "/{a}", Method: "GET"},
		{URL: s.URL, Headers: map[string]string{"X-A": "{a}"}, Body: map[string]any{"x": "{a}", "y": "<{a}>"}},
		{URL: s.URL},
	} {
		if _, err := c.Do(bg, spec, params, nil, "k"); err != nil {
			t.Fatal(err)
		}
		if got := encoded(t, asked.take()); strings.Contains(got, "t0p-secret") {
			t.Errorf("%+v sent %s", spec, got)
		}
	}
	if params["a"] != "$env:TOKEN {b}" || len(params) != 2 {
		t.Error("the parameters were changed")
	}
}

func TestATemplateThatCannotBeFilledIsAFinalErrorAndNothingIsSent(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, nil)
	c := client(t, nil, s)
	for _, spec := range []Spec{
		{URL: s.URL + "/{absent}"},
		{URL: s.URL, Headers: map[string]string{"A": "x{absent}"}},
		{URL: s.URL, Headers: map[string]string{"A": "$env:NOPE"}},
		{URL: s.URL, Body: map[string]any{"a": []any{"x{absent}"}}},
		{URL: s.URL, Body: map[string]any{"a": "$env:NOPE"}},
		{URL: s.URL, Body: "{absent}"},
	} {
		_, err := c.Do(bg, spec, nil, nil, "k")
		if e := asError(t, err); e.IsRetryable || !e.Final() || e.Status != 0 {
			t.Errorf("%+v: %v", spec, e)
		}
	}
	if all := asked.take(); len(all) != 0 {
		t.Errorf("%d requests", len(all))
	}
}

func TestACallIsNotSentAgainByTheConnection(t *testing.T) {
	t.Parallel()
	// A server that takes a request in and hangs up: net/http would repeat it on
	// a kept connection if it knew of an idempotency key.
	s, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		}
	})
	c := client(t, nil, s)
	for _, method := range []string{"POST", "DELETE", "PATCH"} {
		if _, err := c.Do(bg, Spec{URL: s.URL, Method: method}, nil, nil, "k"); err != nil {
			t.Fatal(err)
		}
		_, err := c.Do(bg, Spec{URL: s.URL + "/hang", Method: method}, nil, nil, "k")
		if e, all := asError(t, err), asked.take(); !e.IsRetryable || len(all) != 2 {
			t.Errorf("%s: %d requests instead of 2, %v", method, len(all), e)
		}
	}
}
