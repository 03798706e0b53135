package activities

import (
	"cmp"
	"errors"
	"time"
)

// maxSilence is how long a server may say nothing at all, no comment either, once the LLM has begun to speak. LLMs that
// think do so before their first word.
const maxSilence = time.Minute

var errSilent = errors.New("the LLM fell silent")

// silence hangs up on an LLM that has begun to speak and falls silent.
type silence struct {
	most   time.Duration
	hangUp func()
	timer  *time.Timer // nil before the first word
}

func newSilence(most time.Duration, hangUp func()) *silence {
	return &silence{most: cmp.Or(most, maxSilence), hangUp: hangUp}
}

// begin says that a word was heard.
func (s *silence) begin() {
	if s.timer == nil {
		s.timer = time.AfterFunc(s.most, s.hangUp)
	}
}

// beat says that something was heard, if only a comment that keeps the line open.
func (s *silence) beat() {
	if s.timer != nil {
		s.timer.Reset(s.most)
	}
}

func (s *silence) end() {
	if s.timer != nil {
		s.timer.Stop()
	}
}
