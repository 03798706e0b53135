// Package activities holds Temporal's activities: all I/O of workflows. Type Activities holds what they share on one
// worker, and registers each under its name in the protocol.
//
//	Prepare, Discover          bind an Idea's Tools to what the worker knows, and ask MCP servers for theirs
//	Request                    ask the LLM, by package llm, and signal Calls to instances as they close
//	Execute, Burst             run Tools, by the runner of their kind
//	Seal, Gather               write Ideas to the chain, by package store/chain
//	Deliver, Gone, Notify      signal workflows, look whether one has ended, tell people
//
// Invariants:
//   - An error of Request means that the LLM gave no reply; once a reply has begun, the result has its outcome.
//   - Workflows see only handles of large values: Execute and Request load them from the store and save them there.
//   - An error says whether Temporal retries, and the earliest time (errors.go). A worker's shutdown is no failure of
//     a Tool (drain.go). An activity waits for an unavailable store (retrystore.go).
//   - Every activity can run twice. An effect that must not happen twice carries an idempotency key or a digest.
//   - An Observer receives no prompt, parameter, result or error text.
package activities
