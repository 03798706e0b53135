package rehearsal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"time"
)

// charsPerToken is the length of a token in characters, in pacing and in usage.
const charsPerToken = 4

// Reply is one line of a replies file. The zero value is an immediate empty reply with "stop".
type Reply struct {
	PromptSubstring string        // the reply is for every Request whose prompt contains this; empty: by number
	Content         string        // the text; with an ErrorStatus, the message of the error
	Refusal         string        // a refusal sent before Content
	FinishReason    string        // empty means "stop"
	TTFT            time.Duration // from the Request's arrival to the first token
	TPS             float64       // tokens a second; 0 means immediately
	ErrorStatus     int           // HTTP error status to answer with instead; 0 means none
	RetryAfter      time.Duration // sent with ErrorStatus; 0 means no header
	CutAfterChars   *int          // characters after which the connection drops; nil means never
}

// Line returns the reply as one line of a replies file, without the line's end. Parsing the line gives the same reply,
// with FinishReason filled in.
func (r Reply) Line() []byte {
	if r.canBeWrittenAsSolution() {
		if line, ok := r.encodeLine(json.RawMessage(r.Content), nil); ok {
			return line
		}
	}
	if r.Content == "" && (r.ErrorStatus != 0 || r.Refusal != "") {
		line, _ := r.encodeLine(nil, nil)
		return line
	}
	line, _ := r.encodeLine(nil, &r.Content)
	return line
}

// canBeWrittenAsSolution reports whether the reply may be written as a solution and still be sent in the same bytes.
func (r Reply) canBeWrittenAsSolution() bool {
	if r.ErrorStatus != 0 || r.Refusal != "" || r.CutAfterChars != nil || r.finishReason() != "stop" {
		return false
	}
	solution, err := encodeSolution([]byte(r.Content))
	return err == nil && solution == r.Content
}

// encodeLine encodes the reply around its text, and reports whether Parse would accept the line: a solution can be
// nested so deeply that it is valid alone but not inside a line.
func (r Reply) encodeLine(solution json.RawMessage, raw *string) ([]byte, bool) {
	fields := struct {
		When         string          `json:"when,omitempty"`
		Solution     json.RawMessage `json:"solution,omitempty"`
		Raw          *string         `json:"raw,omitempty"`
		Refusal      string          `json:"refusal,omitempty"`
		FinishReason string          `json:"finish_reason,omitempty"`
		TTFT         float64         `json:"ttft_ms,omitempty"`
		TPS          float64         `json:"tps,omitempty"`
		Status       int             `json:"status,omitempty"`
		RetryAfter   float64         `json:"retry_after,omitempty"`
		Cut          *int            `json:"cut,omitempty"`
	}{When: r.PromptSubstring, Solution: solution, Raw: raw, Refusal: r.Refusal, TPS: r.TPS, Status: r.ErrorStatus,
		Cut:  r.CutAfterChars,
		TTFT: float64(r.TTFT) / float64(time.Millisecond), RetryAfter: float64(r.RetryAfter) / float64(time.Second)}
	if r.finishReason() != "stop" {
		fields.FinishReason = r.FinishReason
	}
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false) // a solution's bytes must not change
	if encoder.Encode(fields) != nil {
		return nil, false
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n")), json.Valid(line.Bytes())
}

func (r Reply) finishReason() string { return cmp.Or(r.FinishReason, "stop") }

// dueAt returns when the token that starts after chars characters is due. It counts from the start, not from the
// previous token, so that late timers never add up.
func (r Reply) dueAt(requestArrivedAt time.Time, charsBefore int) time.Time {
	firstTokenAt := requestArrivedAt.Add(r.TTFT)
	if r.TPS <= 0 {
		return firstTokenAt
	}
	seconds := float64(charsBefore) / charsPerToken / r.TPS
	return firstTokenAt.Add(time.Duration(min(seconds, maxWaitSeconds) * float64(time.Second)))
}

// maxWaitSeconds bounds waits to about eleven days, so that no time.Duration overflows and nanoseconds survive the
// conversion to and from JSON.
const maxWaitSeconds = 1e6

// countTokens converts characters into tokens, rounded up.
func countTokens(chars int) int {
	return int(math.Ceil(float64(chars) / charsPerToken))
}
