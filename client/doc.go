// Package client lets people and programs work with processes: start one, follow it, decide on the Calls that wait for
// a person, steer it, and read its chain of Ideas. The command starter is a thin layer over it.
//
//	c, err := client.Dial(ctx, client.Options{Store: "/var/lib/processidea/store"})
//	idea, err := client.ParseIdea(file)
//	p, err := c.Start(ctx, client.StartOptions{ID: "refund-17", Idea: idea})
//	for event, err := range p.Events(ctx) {
//		if event.Status.PendingDecisionCount == 0 {
//			continue
//		}
//		waiting, err := p.Approvals(ctx)
//		for _, a := range waiting {
//			err = p.Decide(ctx, client.Decision{Kind: client.Approve, Call: a.CallID, Digest: a.Digest, By: "ann"})
//		}
//	}
//	result, err := p.Result(ctx)
//	ideas, err := p.Chain().Ideas(ctx)
//
// A program of another module needs, in its go.mod, a require of processidea and a replace with the path of a checkout.
//
// A Client is connected to a Temporal server and to the store of its workers; a Process is one process there; a Chain
// is the Ideas of a process in the store. An Archive reads a Chain offline. Package ideafiles reads and checks Idea
// files, and package simulation simulates a process.
//
// A worker must be running: the command worker, starter dev, or one made with worker/engine. The client talks to it
// through Temporal alone, and needs the same store and the same keys.
//
// Invariants: a start is idempotent by id and content. Once Decide, Pause and similar methods return nil, the change is
// in effect; a refusal is a *RefusedError. A returned Result has every value whole, never a reference to the store.
// Callers distinguish errors with errors.Is and the variables of this package.
package client
