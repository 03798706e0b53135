package memory

import (
	"fmt"
	"io"
	"net/http"
)

// Transport sends requests through Next, and reads at most MaxBytes of an answer, counted after decompression: a server
// may send endlessly, and a thousand bytes of gzip can expand to a million.
type Transport struct {
	Next     http.RoundTripper
	MaxBytes int64
	// OnTooLarge is called when an answer exceeds MaxBytes; nil: no call.
	OnTooLarge func()
}

// AnswerTooLargeError is the error of reading an answer beyond its limit.
type AnswerTooLargeError struct{ LimitBytes int64 }

// Error names the limit.
func (e AnswerTooLargeError) Error() string {
	return fmt.Sprintf("the answer is larger than %d bytes", e.LimitBytes)
}

// RoundTrip sends a request.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.Next.RoundTrip(r)
	if err == nil {
		LimitBody(answer, t.MaxBytes, t.OnTooLarge)
	}
	return answer, err
}

// LimitBody limits the reading of an answer to limit bytes. onExceeded is called when the answer exceeds them; nil: no
// call.
func LimitBody(answer *http.Response, maxBytes int64, onExceeded func()) {
	answer.Body = &boundedBody{answer.Body, maxBytes, maxBytes, onExceeded}
}

type boundedBody struct {
	io.ReadCloser
	limitBytes, remainingBytes int64
	onExceeded                 func()
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.remainingBytes < 0 {
		return 0, AnswerTooLargeError{b.limitBytes}
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.remainingBytes+1)])
	if b.remainingBytes -= int64(n); b.remainingBytes >= 0 {
		return n, err
	}
	if b.onExceeded != nil {
		b.onExceeded()
	}
	return n - 1, AnswerTooLargeError{b.limitBytes}
}
