package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"processidea/bench/internal/script"
)

// largeState is how much State an instance has in this work, in bytes.
const largeState = 5 << 20

// stateWork runs instances with 5 MB of State each, in many small members or in few large ones, through one Request with a
// Call for all and one more that ends it.
func stateWork(instances, members int) func(context.Context, *bed, *record, size) error {
	return func(ctx context.Context, b *bed, r *record, s size) error {
		total := s.of(largeState, 100<<10)
		forgetPeak()
		llm, took, err := b.largeStates(ctx, instances, members, total)
		if err != nil {
			return err
		}
		r.of("time", "s").on("instances", instances).add(seconds(took))
		r.of("start to the first Request", "ms").on("instances", instances).add(ms(llm.Asked()[0].Sub(llm.Begun)))
		r.of("first Request to the second", "ms").on("instances", instances).add(inMS(llm.Gaps())...)
		r.of("memory", "MB").on("instances", instances).add(peakResident())
		return b.countBytes(ctx, r, "instances", instances, kept{})
	}
}

func (b *bed) largeStates(ctx context.Context, instances, members, total int) (*script.Script, time.Duration, error) {
	p, err := b.largeProcess(ctx, instances, members, total)
	if err != nil {
		return nil, 0, err
	}
	call := `{"_tool":"instant","n":1,"_outputPath":"done"}`
	if instances > 1 {
		call = `{"_instance":"*",` + call[1:]
	}
	llm, err := b.say([]string{script.Reply([]string{call}, "null", ""), script.Reply(nil, "null", "")})
	if err != nil {
		return nil, 0, err
	}
	llm.Begun = time.Now()
	result, err := b.run(ctx, p)
	if err == nil && result.Calls.Done != instances {
		err = fmt.Errorf("%d of %d Calls were done", result.Calls.Done, instances)
	}
	return llm, time.Since(llm.Begun), err
}

func (b *bed) largeProcess(ctx context.Context, instances, members, total int) (process, error) {
	p := process{id: "state", tools: map[string]any{"instant": goTool("instant")}, messages: []any{text("Go on.")}}
	for i := range instances {
		token := ""
		if instances > 1 {
			token = fmt.Sprintf("i%d", i+1)
		}
		m, err := b.state(ctx, token, membersOf(i, members, total))
		if err != nil {
			return p, err
		}
		p.messages = append(p.messages, m)
	}
	return p, nil
}

// membersOf is a State of so many members; no two of them, and no two instances', are alike.
func membersOf(instance, members, total int) map[string]any {
	state := map[string]any{}
	for m := range members {
		name := fmt.Sprintf("member%d", m+1)
		state[name] = strings.Repeat(fmt.Sprintf("%04d %08d, ", instance, m), total/members/15)
	}
	return state
}
