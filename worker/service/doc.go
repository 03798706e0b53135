// Package service is the production worker as a program: it connects to a Temporal server, reports over HTTP how it is,
// and when it is told to stop lets what runs come to its end. Execute is its main function; a program of one's own
// calls it with options (WithTools, WithRunner) to add Tools and kinds of Tools.
//
// Invariants:
//   - /healthz answers as long as the program is alive; /readyz only while Temporal and the store answer and Calls are
//     polled for, and never while the program drains.
//   - The first SIGTERM or SIGINT drains, the second ends at once.
//   - Exit codes: 0 stopped, 1 failed, 2 bad usage, 4 Temporal cannot be reached.
package service
