package script

import (
	"fmt"
	"strings"
	"time"

	"processidea/internal/rehearsal"
)

// RealTimePace is the pace of a real LLM: 300 ms to the first token, then 100 tokens a second.
const RealTimePace = `, "ttft_ms": 300, "tps": 100}`

// ReplyLine returns a line of a replies file with Calls and an output in JSON. Without a pace the LLM sends it at once.
func ReplyLine(calls []string, output, pace string) string {
	if pace == "" {
		pace = "}"
	}
	return fmt.Sprintf(`{"solution": {"calls": [%s], "output": %s}%s`, strings.Join(calls, ","), output, pace)
}

// ScriptedLLM is the scripted LLM of one process. Its log holds only POST requests. A stopped embedded server leaves
// clients behind that keep dialling its frontend ("PRI * HTTP/2.0"), and the LLM may have got that port since.
type ScriptedLLM struct{ *rehearsal.Handler }

// New makes a ScriptedLLM from the lines of a replies file.
func New(replyLines []string, opts ...rehearsal.Option) (*ScriptedLLM, error) {
	replies, err := rehearsal.Parse([]byte(strings.Join(replyLines, "\n")))
	return &ScriptedLLM{rehearsal.NewHandler(replies, append(opts, rehearsal.WithoutLoggedBodies())...)}, err
}

// RequestGaps returns the time from the end of each reply to the next Request.
func (s *ScriptedLLM) RequestGaps() (gaps []time.Duration) {
	requests := s.Requests()
	for n := 1; n < len(requests); n++ {
		gaps = append(gaps, requests[n].ArrivedAt.Sub(requests[n-1].LastTokenAt))
	}
	return gaps
}
