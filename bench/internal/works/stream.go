package works

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/script"
	"processidea/internal/rehearsal"
)

// streamWork measures the time from the moment when the LLM's server has sent the byte that closes a Call to the moment
// when the tool's server has the Call's request. The parser, a signal to the instance, a workflow task and an activity
// task happen in between.
func streamWork(ctx context.Context, r Round) error {
	n := r.pickSize(20, 3)
	lags, err := r.closingByteLags(ctx, n)
	if err != nil {
		return err
	}
	r = r.withAxis("calls", n)
	r.FindOrAddFigure("closing byte to tool, median", "ms").Add(toMilliseconds(lags)...).WithLimit(15)
	r.FindOrAddFigure("closing byte to tool, p90", "ms").Add(report.SpreadOf(toMilliseconds(lags)).P90).WithLimit(25)
	return nil
}

// closingTimes records when the byte that closes each Call was sent.
type closingTimes struct {
	mu           sync.Mutex
	closeOffsets []int // characters of the reply after which each Call is closed
	sentAt       []time.Time
}

// onChunk is called when sentCharCount characters of a reply have been sent.
func (c *closingTimes) onChunk(requestNumber, sentCharCount int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for requestNumber == 1 && len(c.sentAt) < len(c.closeOffsets) && sentCharCount >= c.closeOffsets[len(c.sentAt)] {
		c.sentAt = append(c.sentAt, time.Now())
	}
}

func (r Round) closingByteLags(ctx context.Context, callCount int) ([]time.Duration, error) {
	var calls []string
	times := &closingTimes{}
	offset := len(`{"calls":[`)
	for i := range callCount {
		c := fmt.Sprintf(`{"_tool":"go","n":%d,"_outputPath":"r%d","_reasoningForCall":%q}`, i+1, i+1,
			strings.Repeat("because ", 8))
		calls, offset = append(calls, c), offset+len(c)
		times.closeOffsets = append(times.closeOffsets, offset)
		offset++
	}
	if _, err := r.UseScript([]string{script.ReplyLine(calls, "null", script.RealTimePace),
		script.ReplyLine(nil, "null", "")},
		rehearsal.OnChunkSent(times.onChunk)); err != nil {
		return nil, err
	}
	_, err := r.Run(ctx, bed.ProcessSpec{ID: "stream", MessagesJSON: bed.TextMessage("Go."),
		ToolJSON: bed.ToolJSON("go", fmt.Sprintf(`"_activity": {"http": {"url": %q}}`, r.ToolURL()))})
	return times.callLags(r.ToolArrivalTimes()), err
}

// callLags returns the time from the closing byte to the tool, for each Call whose request arrived.
func (c *closingTimes) callLags(arrivalTimeByCall map[int]time.Time) (lags []time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, sentAt := range c.sentAt {
		if arrivedAt, ok := arrivalTimeByCall[i+1]; ok {
			lags = append(lags, arrivedAt.Sub(sentAt))
		}
	}
	return lags
}
