package llm

import (
	"errors"
	"time"

	"processidea/internal/safego"
)

// maxSilence is how long a server may send nothing at all, not even a comment, once the LLM has begun to write. Before
// that, LLMs that think may be silent for as long as the Request may take.
const maxSilence = time.Minute

var errSilent = errors.New("the LLM fell silent")

// idleTimer hangs up on a server that falls silent after the LLM has begun to write.
type idleTimer struct {
	limit     time.Duration
	onSilence func()
	timer     *time.Timer // nil until start
}

func newIdleTimer(limit time.Duration, onSilence func()) *idleTimer {
	return &idleTimer{limit: limit, onSilence: onSilence}
}

// start starts the timer at the first word; later calls do nothing.
func (t *idleTimer) start() {
	if t.timer == nil {
		t.timer = safego.AfterFunc(t.limit, "llm.silence", t.onSilence)
	}
}

// reset restarts the timer: the server has sent something, if only a comment that keeps the connection open.
func (t *idleTimer) reset() {
	if t.timer != nil {
		t.timer.Reset(t.limit)
	}
}

func (t *idleTimer) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}
