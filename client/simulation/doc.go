// Package simulation simulates a process: it runs on the same engine, but no Tool runs. The LLM plays every Tool, or
// results are made up from the schemas.
//
//	made, warnings, err := simulation.Prepare(source, tools, simulation.Options{Schemas: true})
//	p, err := c.Start(ctx, made.StartOptions(client.NewProcessID("trial")))
//	result, err := p.Result(ctx)
//	report, err := made.Report(ctx, c, p, result)
//
// Prepare makes up the data that the files leave out and marks the Idea: workers play the Tools of a marked Idea and
// never run them. A Report is the result of a simulation: Requests, tokens, Calls by Tool, what stayed open, and the
// Plan as a graph.
//
// Invariant: simulated data is marked everywhere: in its Ideas, its States and its Result. Use a separate server and
// store anyway, as `starter simulate` does.
package simulation
