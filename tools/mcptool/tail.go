package mcptool

import (
	"log/slog"
	"strings"
	"sync"

	"processidea/internal/secret"
)

// stderrTail takes what a command writes on standard error: it logs every line, and keeps the end for the error of a
// server that does not answer.
type stderrTail struct {
	log     *slog.Logger
	striker *secret.Striker
	mu      sync.Mutex
	line    string
	tail    string
}

const (
	maxTail = 1000 // bytes that an error repeats
	maxLine = 8000 // bytes that are kept: secrets are struck out before it is cut, since half of one would not be found
)

// Write takes the next piece.
func (t *stderrTail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line += string(p)
	if at := strings.LastIndexByte(t.line, '\n'); at >= 0 || len(t.line) > maxLine {
		at = max(at, 0)
		t.log.Debug("an MCP server writes", "text", t.striker.StrikeText(strings.TrimSpace(t.line[:at])))
		t.line = t.line[at:]
	}
	t.tail += string(p)
	t.tail = t.tail[max(0, len(t.tail)-maxLine):]
	return len(p), nil
}

func (t *stderrTail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.striker.StrikeText(strings.TrimSpace(t.tail))
	return strings.ToValidUTF8(text[max(0, len(text)-maxTail):], "")
}
