package mcptool

import (
	"log/slog"
	"strings"
	"sync"

	"processidea/internal/safego"
	"processidea/internal/secret"
)

// outputTail receives a command's standard error. It logs every line, and keeps the end for the error of a server that
// does not answer.
type outputTail struct {
	log            *slog.Logger
	redactor       *secret.Redactor
	mu             sync.Mutex
	partialLine    string
	isSkippingLine bool // the rest of an overlong line is skipped
	tail           string
}

const (
	maxQuotedTailBytes = 1000 // bytes that an error repeats
	// bytes that are kept; secrets are removed before cutting, since half a secret would not be found
	maxKeptOutputBytes = 8000
)

// lineEnds are the ends of lines: programs overwrite a line of progress by carriage returns.
const lineEnds = "\r\n"

// Write receives the next piece. It is called on a goroutine of package exec. An error would end that goroutine, and
// with it the program.
func (t *outputTail) Write(p []byte) (int, error) {
	_ = safego.Run("mcp.stderr", func() error { t.appendPiece(p); return nil })
	return len(p), nil
}

// appendPiece processes the next piece. An overlong line is not logged, since keeping all of it would need unbounded
// memory.
func (t *outputTail) appendPiece(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.partialLine += string(p)
	if firstLineEndIndex := strings.IndexAny(t.partialLine, lineEnds); t.isSkippingLine && firstLineEndIndex >= 0 {
		t.partialLine, t.isSkippingLine = t.partialLine[firstLineEndIndex:], false
	}
	if lastLineEndIndex := strings.LastIndexAny(t.partialLine, lineEnds); lastLineEndIndex >= 0 && !t.isSkippingLine {
		if text := strings.TrimSpace(t.partialLine[:lastLineEndIndex]); text != "" {
			t.log.Debug("an MCP server writes", "text", t.redactor.RedactText(text))
		}
		t.partialLine = t.partialLine[lastLineEndIndex+1:]
	}
	if t.isSkippingLine || len(t.partialLine) > maxKeptOutputBytes {
		t.partialLine, t.isSkippingLine = "", true
	}
	t.tail += string(p)
	t.tail = t.tail[max(0, len(t.tail)-maxKeptOutputBytes):]
}

func (t *outputTail) redactedTail() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.redactor.RedactText(strings.TrimSpace(t.tail))
	return strings.ToValidUTF8(text[max(0, len(text)-maxQuotedTailBytes):], "")
}
