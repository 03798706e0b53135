package client

import (
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/chain"
)

// Who decided on a Call may not decide on another in the fork of a fork either, though its own log tells of nothing.
func TestAForkTellsWhoDecidedOnTheCallsThatItsPoliciesName(t *testing.T) {
	t.Parallel()
	store := storeOf(t)
	seal := func(process string, at int, parent string, idea map[string]any, log ...turn.LogEntry) protocol.IdeaRef {
		t.Helper()
		sealed, err := chain.New(store).Seal(t.Context(),
			chain.IdeaToSeal{ProcessID: process, IdeaNumber: at, ParentDigest: parent, Idea: idea, Log: log,
				Created: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	approved := func(call, tool, by string) turn.LogEntry {
		return turn.LogEntry{Decision: &approval.Decision{Kind: policy.Approve, CallID: call, Tool: tool, DecidedBy: by,
			DecidedAt: time.Now()}}
	}
	idea := ideaOf(t, `{"schema": {"tools": {"prepare": {"_approval": true}, "pay": {"_approval": {"by": {"notSameAs": ["prepare"]}}}}},
		"context": [{"type": "text", "text": "t"}]}`).Source
	first := seal("p", 1, "", idea, approved("1.1", "prepare", "ann"))
	seal("p", 2, first.Digest, idea, approved("2.1", "prepare", "bob"))
	archive := New(&fakeTemporal{}, "default", store)
	fork, err := archive.Chain("p").ForkedIdea(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	want := policy.PriorDecision{CallID: "1.1", Tool: "prepare", DecidedBy: "ann"}
	if got := policy.ReadDecisionsBeforeFork(fork); len(got) != 1 || got[0] != want {
		t.Errorf("%+v", got)
	}
	seal("q", 1, "", fork, approved("3.1", "prepare", "cid"))
	again, err := archive.Chain("q").ForkedIdea(t.Context(), 1)
	if got := policy.ReadDecisionsBeforeFork(again); err != nil || len(got) != 2 || got[0] != want ||
		got[1].DecidedBy != "cid" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAStartSaysWhoStartsTheProcess(t *testing.T) {
	t.Parallel()
	c := New(&fakeTemporal{}, "default", storeOf(t))
	idea := ideaOf(t, `{"context": [{"type": "text", "text": "t"}]}`).Source
	start, err := c.storeStart(t.Context(), StartOptions{Idea: idea, StartedBy: "ann"})
	if err != nil || len(start.StartedBy) != 1 || start.StartedBy[0].Name != "ann" {
		t.Errorf("%+v, %v", start, err)
	}
	if a, b := (&StartOptions{Idea: idea, StartedBy: "ann"}).contentDigest(),
		(&StartOptions{Idea: idea}).contentDigest(); a != b {
		t.Error("another person cannot attach to the process")
	}
}
