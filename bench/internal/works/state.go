package works

import (
	"context"
	"fmt"
	"strings"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/script"
	"processidea/bench/internal/usage"
)

// largeState is the size of an instance's State in this work, in bytes.
const largeState = 5 << 20

// stateWork runs instances with 5 MB of State each, in many small members or in few large ones. One Request gives a Call for all,
// and one more ends the process.
func stateWork(instances, members int) func(context.Context, *bed.Bed, *report.Record, Size) error {
	return func(ctx context.Context, b *bed.Bed, r *report.Record, s Size) error {
		total := s.of(largeState, 100<<10)
		usage.ForgetPeak()
		llm, took, err := runLargeStates(ctx, b, instances, members, total)
		if err != nil {
			return err
		}
		r.Figure("time", "s").On("instances", instances).Add(seconds(took))
		r.Figure("start to the first Request", "ms").On("instances", instances).Add(ms(llm.Asked()[0].Sub(llm.Begun)))
		r.Figure("first Request to the second", "ms").On("instances", instances).Add(inMS(llm.Gaps())...)
		r.Figure("memory", "MB").On("instances", instances).Add(usage.PeakResident())
		return countBytes(ctx, b, r, "instances", instances, limits{})
	}
}

func runLargeStates(ctx context.Context, b *bed.Bed, instances, members, total int) (*script.Script, time.Duration, error) {
	p, err := largeProcess(ctx, b, instances, members, total)
	if err != nil {
		return nil, 0, err
	}
	call := `{"_tool":"instant","n":1,"_outputPath":"done"}`
	if instances > 1 {
		call = `{"_instance":"*",` + call[1:]
	}
	llm, err := b.Script([]string{script.Reply([]string{call}, "null", ""), script.Reply(nil, "null", "")})
	if err != nil {
		return nil, 0, err
	}
	llm.Begun = time.Now()
	result, err := b.Run(ctx, p)
	if err == nil && result.Calls.Done != instances {
		err = fmt.Errorf("%d of %d Calls were done", result.Calls.Done, instances)
	}
	return llm, time.Since(llm.Begun), err
}

func largeProcess(ctx context.Context, b *bed.Bed, instances, members, total int) (bed.Process, error) {
	p := bed.Process{ID: "state", Tools: map[string]any{"instant": bed.GoTool("instant")}, Messages: []any{bed.TextMessage("Go on.")}}
	for i := range instances {
		token := ""
		if instances > 1 {
			token = fmt.Sprintf("i%d", i+1)
		}
		m, err := b.StateMessage(ctx, token, membersOf(i, members, total))
		if err != nil {
			return p, err
		}
		p.Messages = append(p.Messages, m)
	}
	return p, nil
}

// membersOf makes a State of so many members. No two of them are alike, nor those of two instances.
func membersOf(instance, members, total int) map[string]any {
	state := map[string]any{}
	for m := range members {
		name := fmt.Sprintf("member%d", m+1)
		state[name] = strings.Repeat(fmt.Sprintf("%04d %08d, ", instance, m), total/members/15)
	}
	return state
}
