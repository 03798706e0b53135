package server

import (
	"bytes"
	"context"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A handler that panics is in the log with its stack, at a level that is shown.
func TestAHandlerThatPanicsIsInTheLog(t *testing.T) {
	t.Parallel()
	var told bytes.Buffer
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("lost") }))
	s.Config.ErrorLog = log.New(serverLog{slog.New(slog.NewTextHandler(&told, nil))}, "", 0)
	s.Start()
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := s.Client().Do(r); err == nil {
		_ = answer.Body.Close()
		t.Error("it answered")
	}
	s.Close() // by then the log is written
	if text := told.String(); !strings.Contains(text, "level=ERROR") || !strings.Contains(text, "lost") ||
		!strings.Contains(text, "serverlog_test.go") {
		t.Error(text)
	}
}
