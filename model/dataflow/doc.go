// Package dataflow runs the Calls of one instance: it decides which Calls may run, with which values, and what happens
// to their results. It does no I/O. A workflow reports events to it (AcceptCall, CloseRequest, SucceedCall, FailCall,
// ApplyDecision, ApplyRevision), and Advance returns the Calls to run now.
//
// An Instance holds the State, as a log of writes, and a CallRecord of every Call in Plan order: by Request, then by
// index. A ReadyCall is a Call with its References resolved. CarriedInstance is an Instance as data, for
// continue-as-new.
//
// # The life of a Call
//
// A Record is in one phase at a time. The table at type phase lists the phases, the status that each has and what it
// waits for; nextPhasesByPhase lists the moves, and setPhase panics on any other.
//
// # Readiness and write-once
//
// A Call reads what the References in its parameters name, and writes its output path. It starts when all its inputs
// exist and no unfinished Call can still change them. At a path it reads what earlier Calls in the Plan wrote; if they
// wrote nothing, what later write-once Calls wrote. A path is write-once unless the Call declares an update: the first
// value closes it, and a later Call for the same path is skipped because its value exists. Updates are applied in Plan
// order.
//
// Calls that can no longer become ready still end: a Call that reads a value which nobody will write is blocked, and a
// Call that depends on a branch not taken is skipped. If Calls wait for each other, one goes first
// (callToBreakDeadlock).
//
// # Invariants
//
// The property tests check these for random Plans, results, decisions and orders of events:
//   - The outcome depends on the Plan and the results alone (and on people's decisions), never on the order in which
//     results come back, nor on whether the workflow continued as new in between.
//   - Every Call ends once its Requests are closed and everybody has answered, and it starts at most once.
//   - A value that a write-once Call wrote is never overwritten; of several Calls for one path, the first in Plan order
//     that can succeed wins.
//   - What a person approved is exactly what runs, and a Call that needs approval never runs without it.
//   - A refused decision changes nothing.
//   - An instance runs as if the other instances did not exist.
//   - The writes from TakeUnreportedWrites, applied to the same start, give the same State; each is returned once.
package dataflow
