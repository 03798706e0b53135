package connect

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
)

func TestOfWhatTheSDKSaysBelowWarnOnlyLinesOfProcessesStay(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	all := slog.HandlerOptions{Level: slog.LevelDebug}
	loud := log.NewStructuredLogger(slog.New(slog.NewTextHandler(&said, &all)))
	l := log.With(QuietLogger(loud), "Namespace", "default")
	l.Debug("no", "process", "p")
	l.Info("no", "Attempt", 1)
	l.Info("yes", "code", "", "process", "p")
	l.Warn("yes", "Attempt", 2)
	l.Error("yes")
	if text := said.String(); strings.Contains(text, "msg=no") ||
		strings.Count(text, "msg=yes Namespace=default") != 3 {
		t.Error(text)
	}
}

func final(code, text string) error {
	return temporal.NewNonRetryableApplicationError(text, code, nil)
}

func TestWhatToolsSaidStandsInNoLogOfWhatIsEncrypted(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	l := log.With(redactingLogger{log.NewStructuredLogger(slog.New(slog.NewTextHandler(&said, nil)))}, "first",
		final("a_code", "hello"))
	err := fmt.Errorf("activity: %w", final("a_code", "hello"))
	l.Debug("d", "Error", err)
	l.Info("i", "Error", err)
	l.Warn("w", "Error", err, "reason", "hello")
	l.Error("e", "Error", err, "n", 7, "other", fmt.Errorf("the store is gone"))
	if text := said.String(); strings.Contains(text, "hello") || strings.Count(text, "a_code") != 6 ||
		!strings.Contains(text, "n=7") || !strings.Contains(text, "the store is gone") {
		t.Error(text)
	}
}
