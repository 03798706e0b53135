// Package runner holds what all kinds of Tools have in common: the interface Runner, and the Registry that finds a
// Runner by its kind.
//
// An Idea file names a Tool's kind in `_activity: {"<kind>": spec}`. Only the Runner registered under that kind
// reads the spec: Registry.Validate passes it the spec when a process is checked or starts, and the activity Execute
// passes the spec to Run with each Call. A Tool without such an object is a Go function, under ideafile.KindGo, whose
// spec is the function's name. Latent Tools and delegates have no Runner: workflows carry them out.
//
// Invariants:
//   - A Registry is filled before it is used, and then safe for concurrent reads.
//   - Runners get each Call's parameters checked against the Tool's schema, and their results are checked by the
//     caller.
//   - A Call may be run more than once, always with the same Input.IdempotencyKey.
//
// A new kind is a package that implements Runner, and one line in package kinds (more if a worker must be configured
// for it: see there). In a worker of one's own, it is an entry in engine.Dependencies.Runners instead.
package runner
