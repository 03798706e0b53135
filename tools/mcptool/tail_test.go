package mcptool

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"processidea/internal/secret"
)

func TestWhatAProgramWritesOnStandardErrorTakesLittleMemory(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	tail := &outputTail{redactor: secret.NewRedactor(map[string]string{"TOKEN": "a-secret-of-many"}),
		log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	write := func(text string) {
		if n, err := tail.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
		if held := len(tail.partialLine) + len(tail.tail); held > 2*maxKeptOutputBytes {
			t.Fatalf("it holds %d bytes", held)
		}
	}
	write("it begins\nwith a-secret")
	write("-of-many\n")
	for range 100 {
		write(strings.Repeat("x", 1000))
	}
	write("-secret-of-many, and its end\n")
	for range 100 {
		write("\r 50 % of " + strings.Repeat("y", 200))
	}
	write("\nit goes on\n")
	for _, text := range []string{"it begins", "[secret TOKEN]", "50 %", "it goes on"} {
		if !strings.Contains(log.String(), text) {
			t.Errorf("the log lacks %q", text)
		}
	}
	if strings.Contains(log.String(), "secret-of-many") || strings.Contains(log.String(), "xx") {
		t.Error("the log has a line that was too long, or a secret")
	}
	if !strings.HasSuffix(tail.redactedTail(), "it goes on") {
		t.Errorf("the end is %q", tail.redactedTail())
	}
}
