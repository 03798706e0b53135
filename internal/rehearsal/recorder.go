package rehearsal

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"unicode/utf8"
)

// Recorder writes the replies of a real LLM as the lines of a replies file. It is safe for concurrent use; lines are in
// the order of the calls to Record.
type Recorder struct {
	mu sync.Mutex
	w  io.Writer
}

// NewRecorder returns a recorder that writes each line to w with one Write.
func NewRecorder(w io.Writer) *Recorder { return &Recorder{w: w} }

// FinishReasonNoAnswer is the finishReason of a Request without a reply. Its content is the error that the replay then
// has.
const FinishReasonNoAnswer = "no answer"

// Record writes one reply. A whole solution is written as a solution, anything else as raw text. An empty finishReason
// means that the stream broke off there; the recorded reply then breaks off at the same place.
func (r *Recorder) Record(content string, finishReason string, refusal string) error {
	reply := Reply{Content: content, FinishReason: finishReason, Refusal: refusal}
	switch finishReason {
	case FinishReasonNoAnswer:
		reply.FinishReason, reply.ErrorStatus = "", http.StatusBadRequest // nothing is tried again after that
	case "":
		sentChars := utf8.RuneCountInString(refusal) + utf8.RuneCountInString(content)
		reply.CutAfterChars = &sentChars
	}
	if solution, err := encodeSolution([]byte(content)); err == nil && finishReason == "stop" && refusal == "" {
		reply.Content = solution
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.w.Write(append(reply.Line(), '\n')); err != nil {
		return fmt.Errorf("rehearsal: record reply: %w", err)
	}
	return nil
}
