// Package client is what people and programs do with processes: start one, follow it, decide on the Calls that wait for a
// person, steer it, and read its chain of Ideas. The command starter is a thin layer over it.
//
//	c, err := client.Dial(ctx, client.Options{Store: "/var/lib/processidea/store"})
//	p, err := c.Start(ctx, client.StartOptions{ID: "refund-17", Idea: idea})
//	for event, err := range p.Events(ctx) { … }
//	result, err := p.Result(ctx)
//
// A Client is connected to a Temporal server and to the store of its workers; a Process is one process there; a Chain is
// the Ideas of a process in the store. An Archive reads a Chain offline. Package ideafiles reads and checks the files that
// a process starts from, and simulation tries a process out.
//
// A worker must be running: the command worker, starter dev, or one made with worker/engine. The client talks to it
// through Temporal alone, and needs the same store and the same keys.
//
// Invariants: a start is idempotent by id and content; once Decide, Pause, … return nil, the change is in effect, and what
// was refused is a *RefusedError; a Result that is returned holds every value whole, never a reference to the store.
// Errors are told apart with errors.Is and the variables of this package.
package client
