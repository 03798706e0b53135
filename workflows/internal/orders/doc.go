// Package orders keeps the standing orders of a process, for both kinds of process: it takes them in, approves what
// waits and is covered, and counts what was refused. What an order covers is decided in model/approval.
//
// Invariants: a process that is a part has no orders: the whole has them, so that what is counted is counted once. An
// approval under an order is sent once; where it is refused, it is taken back, and something else may be approved in
// its place.
package orders
