// Package orders keeps the standing orders of a process, for both kinds of process: it accepts them, approves the Calls
// that they cover, and counts refusals. Package model/approval decides what an order covers.
//
// Invariants: a process that is a part has no orders. The whole has them, so that each approval is counted once. An
// approval under an order is sent once; if it is refused, it no longer counts, and another Call may be approved
// instead.
package orders
