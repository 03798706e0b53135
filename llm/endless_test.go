package llm

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"processidea/tools/memory"
)

// endless is a body of one piece again and again, up to far more than anything may be. It counts what is read of it.
type endless struct {
	piece     string
	readBytes int
}

func (e *endless) Read(p []byte) (n int, _ error) {
	if e.readBytes > 4*maxNonStreamBytes {
		return 0, io.EOF
	}
	for n < len(p) {
		n += copy(p[n:], e.piece[(e.readBytes+n)%len(e.piece):])
	}
	e.readBytes += n
	return n, nil
}

func (e *endless) Close() error { return nil }

func TestAnEventThatNeverEndsIsReadToItsBoundAlone(t *testing.T) {
	t.Parallel()
	line, part := strings.Repeat("x", 8<<20), strings.Repeat("x", 64<<10)
	for name, row := range map[string]struct{ start, piece, want string }{
		"of one line":         {"data: {", part, "token too long"},
		"of many lines":       {"data: {\n", "data: " + line + "\n", "an event of more than 32 MB"},
		"of JSON in lines":    {"{\n", `"` + line + "\",\n", "an event of more than 32 MB"},
		"that begins no JSON": {"", part, "token too long"},
	} {
		body := &endless{piece: row.piece}
		e := newEventReader(&http.Response{Body: struct {
			io.Reader
			io.Closer
		}{io.MultiReader(strings.NewReader(row.start), body), body}}, func() {})
		if e.Next() {
			t.Errorf("%s: an event is read", name)
		}
		if err := e.Err(); err == nil || !strings.Contains(err.Error(), row.want) || body.readBytes > 2*maxReplyBytes {
			t.Errorf("%s: %v after %d bytes, want %q", name, err, body.readBytes, row.want)
		}
	}
}

// Such as the file of a batch.
func TestAnAnswerThatIsNoStreamIsReadToItsBoundAlone(t *testing.T) {
	t.Parallel()
	body := &endless{piece: strings.Repeat("x", 64<<10)}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://llm.test/v1/files/f/content", nil)
	if err != nil {
		t.Fatal(err)
	}
	x := newClient(t, Config{APIKey: "k"}).newExchange(question(t))
	answer, err := x.recordResponse(r, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	read, err := io.Copy(io.Discard, answer.Body)
	var tooLarge memory.AnswerTooLargeError
	if !errors.As(err, &tooLarge) || read > maxNonStreamBytes || body.readBytes > 2*maxNonStreamBytes {
		t.Errorf("%d bytes, %v", read, err)
	}
}
