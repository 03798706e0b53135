// Package runner is what the kinds of Tools have in common: the interface Runner, and the Registry that finds a Runner
// by its kind.
//
// An Idea file names a Tool's kind in `_activity: {"<kind>": spec}`. Only the Runner registered under that kind
// reads the spec: Registry.Validate has it check the spec when a process is checked or starts, and the activity Execute
// hands the spec to Run with each Call. A Tool without such an object is a Go function, under ideafile.KindGo, with its
// name as the spec. Latent Tools and delegates have no Runner: workflows carry them out.
//
// Invariants:
//   - A Registry is filled before it is used, and then safe for concurrent reads.
//   - Runners get each Call's parameters checked against the Tool's schema, and their results are checked by the
//     caller.
//   - A Call may be run more than once, always with the same Input.IdempotencyKey.
//
// A new kind is a package that implements Runner, and one line in package kinds (more where a worker must be set up
// for it: see there); or, in a worker of one's own, an entry in engine.Parts.Runners.
package runner
