package workflows_test

import (
	"context"
	"sync"
	"testing"

	"processidea/model/approval/policy"
	"processidea/tools"
)

// dozing is a pure Tool that is in the middle of a Call until it is woken; each test has a doze of its own.
type dozing struct {
	began, woken chan struct{}
	once         sync.Once
}

var dozes sync.Map

func registerDoze(r *tools.Registry) {
	type in struct {
		Of string `json:"of"`
	}
	tools.Register(r, "doze", func(ctx context.Context, in in) (string, error) {
		v, _ := dozes.Load(in.Of)
		d := v.(*dozing)
		d.once.Do(func() { close(d.began) })
		select {
		case <-d.woken:
			return "well rested", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}, tools.Pure())
}

// What comes while a workflow task is under way comes to the next one at once, in the order of history.
func TestSignalsThatComeTogetherAreTakenInTheOrderInWhichTheyWereSent(t *testing.T) {
	t.Parallel()
	d := &dozing{began: make(chan struct{}), woken: make(chan struct{})}
	dozes.Store(t.Name(), d)
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay("true")+`, 
	  "doze": {"type": "object", "properties": {"of": {"type": "string"}}, "_approval": false}}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "pay", "n": 1, "to": "bo"}, {"_tool": "doze", "of": "`+t.Name()+`"}]}}`,
		nothingMore)
	run := s.start()
	<-d.began
	// the SDK offers the first of all first
	s.signal(s.id+"/main", policy.Answer, map[string]any{"call": "1.7", "by": "cy", "output": 1})
	s.signal(s.id+"/main", policy.Reject, map[string]any{"call": "1.1", "by": "ann", "reason": "no"})
	s.signal(s.id+"/main", policy.Approve, map[string]any{"call": "1.1", "by": "bo"})
	close(d.woken)
	r := s.end(run)
	s.keep("crossed", "/main")
	if r.Calls.Done != 1 || r.Calls.Rejected != 1 || len(till.seen()) > 0 {
		t.Errorf("%+v after %d payments", r.Calls, len(till.seen()))
	}
	if v := s.processStatus(); v.RefusalCount != 2 || v.Refusals[1].Signal != policy.Approve {
		t.Errorf("refused: %+v", v.Refusals)
	}
	s.replays("main")
}
