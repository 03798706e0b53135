// Package activity holds the helper activities that every workflow here uses: loading values too large to travel,
// verifying proofs of decisions, and the heartbeat timeout after which an activity counts as lost.
//
// Invariant: results are recorded in the history. On replay a decision is judged as before, even if the keys have
// changed.
package activity
