// Package standing keeps the standing orders of a process: leave that people give beforehand, under which Calls that wait are approved.
//
// The process, or the whole of one that is split into parts, has the orders and says which Calls they cover; the instance checks again
// (model/dataflow) and records the approval as that of whoever gave the order.
//
// Invariants: what was handed out under an order and not refused is never more than its Count. A Call is approved under an order once, and
// refused under it once.
package standing
