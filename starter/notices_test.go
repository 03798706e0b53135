package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"processidea/starter/internal/exit"
)

// A notice whose format has words says what waits as the desk does, and one of the other formats holds no parameter.
func TestANoticeSaysWhatWaitsInTheWordsOfTheBusiness(t *testing.T) {
	idea := strings.ReplaceAll(`{"config": {"instanceName": "†'order ${input.order}'"}, "schema": {"tools": {"note": {"type": "object",
		"_title": "†'Pay ${text} to Ann'", "_approval": true,
		"required": ["text"], "properties": {"text": {"type": "string", "title": "How much"}}}}}, "context": [
		{"type": "input", "order": 7, "text": "12.50 EUR"},
		{"type": "plan", "stage": "complete", "plan": [{"_tool": "note", "text": "†input.text"},
			{"_tool": "note", "text": "9 EUR"}]}]}`, "'", "`")
	const decided = "Pay 12.50 EUR to Ann · order 7"
	for format, wants := range map[string][]string{
		"json":         {"0.1 note", "approved by ann: 0.1 note"},
		"json-words":   {"waits: Pay 12.50 EUR to Ann · order 7", "approved by ann: " + decided},
		"slack-blocks": {`"*How much*\n12.50 EUR"`, decided + `\napproved by ann`},
		"teams": {"Pay 12.50 EUR to Ann · order 7", `"text":"` + decided + `","type":"TextRun","weight":"Default"}],` +
			`"type":"RichTextBlock"},{"inlines":[{"text":"approved by ann"`}} {
		t.Run(format, func(t *testing.T) {
			d := newDesk(t, map[string]string{"pay.json": idea})
			var mu sync.Mutex
			var said strings.Builder
			hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				_, _ = io.Copy(&said, r.Body)
			}))
			t.Cleanup(hook.Close)
			d.set("PROCESSIDEA_NOTIFY_URL="+hook.URL, "PROCESSIDEA_NOTIFY_FORMAT="+format)
			_, p := d.dev()
			d.do("run", "pay.json", "--id", "p", "--detach").is(exit.Done)
			for n, want := range wants {
				if n == 1 {
					d.do("approve", "p", "0.1", "--by", "ann").is(exit.Done)
				}
				d.eventually("somebody is told "+want, func() bool {
					mu.Lock()
					defer mu.Unlock()
					return strings.Contains(said.String(), want)
				})
			}
			p.signal(syscall.SIGINT)
			p.end()
			if format == "json" && strings.Contains(said.String(), "12.50") {
				t.Error(said.String())
			}
		})
	}
}
