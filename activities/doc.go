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
//   - An error of Request means that the LLM said nothing; once it has said something, the result tells what became of
//     it.
//   - Workflows see handles of large values only: Execute and Request fetch them from the store and put them there.
//   - An error tells Temporal whether to retry, and the earliest time (errors.go). A worker's shutdown is no failure of
//     a Tool (drain.go), and a store that does not answer is waited for (retrystore.go).
//   - Every activity can run twice. An effect that must not happen twice carries an idempotency key or a digest.
//   - An Observer is told no prompt, parameter, result or error text.
package activities
