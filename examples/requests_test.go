package examples_test

import (
	"context"
	"path/filepath"
	"testing"

	"processidea/internal/rehearsal"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/tools"
)

// requestsOf is how many Requests each example makes, with the replies that it ships and a person who approves. inVain
// counts those that only hear that nothing is left.
var requestsOf = map[string]struct{ requests, inVain int }{
	"custom-worker":       {requests: 2},
	"diamond":             {requests: 2}, // the output, which says which carrier it was
	"employees":           {requests: 1}, // its reply says that nothing is left
	"hardened-moderation": {requests: 0},
	"invoices":            {requests: 2}, // who gets a letter depends on what was looked up
	"latent":              {requests: 3},
	"mcp":                 {requests: 3},
	"moderation":          {requests: 1},
	payout:                {requests: 0},
	journey:               {requests: 0},
	"refunds":             {requests: 1},
	"research":            {requests: 0}, // its delegates make four
	"ripening":            {requests: 1},
	"sentiment":           {requests: 2},
	"weather":             {requests: 1},
}

// playedElsewhere are the examples whose tools are other programs, or processes: package workflows runs them, and
// counts their Requests. Here their replies are looked at.
var playedElsewhere = map[string]bool{"mcp": true, "research": true}

func TestNoExampleMakesARequestOnlyToHearThatNothingIsLeft(t *testing.T) {
	files, err := filepath.Glob("*/idea.json")
	if err != nil || len(files) != len(requestsOf) {
		t.Fatalf("%d examples, and %d are known; %v", len(files), len(requestsOf), err)
	}
	for _, file := range files {
		name := filepath.Dir(file)
		want, known := requestsOf[name]
		if !known {
			t.Errorf("%s: how many Requests does it make?", name)
			continue
		}
		if name == payout || name == journey {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if playedElsewhere[name] {
				for _, reply := range rehearsed(t, name) {
					if reply.Content == `{"calls":[],"output":null}` || reply.Content == `{"calls":[]}` {
						t.Errorf("a reply says that nothing is left")
					}
				}
				return
			}
			p := beginAny(t, name)
			r := p.through()
			if r.Status != loop.StatusCompleted || r.RequestCount != want.requests || p.inVain != want.inVain {
				t.Errorf("%s after %d Requests, %d in vain", r.Status, r.RequestCount, p.inVain)
			}
		})
	}
}

func rehearsed(t *testing.T, name string) []rehearsal.Reply {
	t.Helper()
	replies, err := rehearsal.Parse(read(t, name, "replies.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return replies
}

// beginAny starts an example, with a person who approves.
func beginAny(t *testing.T, name string) *play {
	t.Helper()
	var p *play
	switch name {
	case hardened:
		idea, problems := ideafile.ReadIdea(source(t, name))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		p = start(t, idea, nil, "")
	case "custom-worker":
		idea, replies := parsed(t, name)
		p = startWith(t, idea, replies, "", storeTools())
	default:
		p = begin(t, name)
	}
	p.person = func(what approval.PendingCall) approval.Decision {
		return approval.Decision{Kind: policy.Approve, CallID: what.CallID, ApprovalDigest: what.Digest,
			DecidedBy: "ann"}
	}
	if p.mind.RunsDirectPlan() {
		p.runPlans()
	}
	return p
}

// storeTools stand for the tools that the worker of the example custom-worker brings.
func storeTools() *tools.Registry {
	r := builtins()
	tools.Register(r, "checkStock", func(context.Context, map[string]any) (int, error) { return 3, nil })
	tools.Register(r, "reserve", func(_ context.Context, order map[string]any) (map[string]any, error) {
		return order, nil
	})
	return r
}
