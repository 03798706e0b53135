// Command crash kills the worker, the server and both with SIGKILL at random moments while processes are at work, and
// checks that this has no visible consequences:
//
//	go run ./bench/crash                      # fifty kills, about ten minutes
//	go run ./bench/crash -kills 10 -seed 42   # ten, at the moments that the seed gives
//
// The processes are the examples, and one whose Calls are all HTTP requests to a server that counts them. Server and
// worker are the real programs, `starter dev --worker=false` and `starter worker`. How to read the figures:
// docs/worker.md.
//
//   - bed holds the programs that are killed, and the tools and the LLM, which are not.
//   - trial runs every case once in peace and then wave after wave with kills.
//   - check holds each process against the rules; figures counts, and prints what was broken.
//
// Invariants that it checks: every process ends, with the result of an undisturbed one; no workflow task fails for
// good; no Call runs again whose completion is in history; a repeated request has the same Idempotency-Key; no effect
// is lost.
package main
