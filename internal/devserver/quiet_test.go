package devserver_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"processidea/internal/devserver"
)

func TestNothingIsPrinted(t *testing.T) {
	cmd := command(t, "pass", t.TempDir())
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Errorf("run: %v", err)
	}
	// The program prints JSON there.
	if out.Len() > 0 {
		t.Errorf("on the standard output:\n%s", out.String())
	}
	if errs.Len() > 0 {
		t.Errorf("on the standard error:\n%s", errs.String())
	}
}

func TestTheLoggerTakesTheServersLogs(t *testing.T) {
	var logs record
	s := start(t, devserver.Options{
		Dir: t.TempDir(), UIPort: -1,
		Logger: slog.New(slog.NewJSONHandler(&logs, nil)),
	})
	s.Stop()
	for _, want := range []string{`"msg":"frontend starting"`, `"service":"frontend"`, `"msg":"frontend stopped"`} {
		if !strings.Contains(logs.String(), want) {
			t.Errorf("no %s among the logs", want)
		}
	}
}

// record takes what is written by many at once.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}
