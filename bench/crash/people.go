package main

import (
	"context"
	"time"

	"processidea/internal/pause"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// decideAll approves whatever a policy asks for. For a Call with an unknown outcome it acts as a careful person would.
// It checks whether the tool was reached. If so, it gives the tool's answer as the result; otherwise it lets the Call
// run.
func (r *trial) decideAll(ctx context.Context, processes []*startedProcess) {
	for ctx.Err() == nil {
		for _, p := range processes {
			for _, a := range r.pendingApprovals(ctx, p.id) {
				r.decide(ctx, a)
			}
		}
		_ = pause.For(ctx, 300*time.Millisecond)
	}
}

// pendingApprovals lists the approvals that a process waits for.
func (r *trial) pendingApprovals(ctx context.Context, id string) []protocol.Approval {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var v protocol.ProcessApprovals
	answer, err := r.client.Temporal().QueryWorkflow(ctx, id, "", protocol.QueryApprovals)
	if err != nil || answer.Get(&v) != nil {
		return nil
	}
	return v.Approvals
}

func (r *trial) decide(ctx context.Context, a protocol.Approval) {
	signal, payload := policy.Approve, jsonval.Object{"call": a.CallID, "digest": a.Digest, "by": "crash"}
	if a.ReviewReason != "" {
		r.figures.countQuestion(a.Process + " " + a.Digest)
		if answer, reached := r.tools.answerOf(protocol.IdempotencyKey(a.Process, a.Instance, a.CallID)); reached {
			signal = policy.Answer
			payload["output"], _ = jsonval.Decode([]byte(answer))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	// If the signal fails, the next round decides again.
	_ = r.client.Temporal().SignalWorkflow(ctx, a.Process, "", signal, payload)
}
