// Package activity is what workflows ask of their workers, whichever of them asks: values that are too large to
// travel, proofs of decisions, and after how long without a heartbeat an activity counts as lost.
//
// Invariant: what was found is in the history. On replay a decision is judged as it was, whatever the keys are by
// then.
package activity
