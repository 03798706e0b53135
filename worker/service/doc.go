// Package service is the production worker as a program. It connects to a Temporal server, serves its health over HTTP,
// and drains when it is stopped. Execute is its main function; a custom program calls it with options (WithTools,
// WithRunner) to add Tools and kinds of Tools.
//
// Invariants:
//   - /healthz answers as long as the program is alive; /readyz only while Temporal and the store answer and the
//     program polls for Calls, and never while it drains.
//   - The first SIGTERM or SIGINT drains, the second ends immediately.
//   - Exit codes: 0 stopped, 1 failed, 2 bad usage, 4 Temporal cannot be reached.
package service
