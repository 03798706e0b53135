// Package proofs checks again, from what a chain of Ideas keeps, what proves who decided: each decision with its proof,
// against the decision itself and, where keys are at hand, against them. It counts the decisions that people only
// declared.
//
// Invariant: it judges a decision as of the time that the chain records, never as of the time in the proof. So a key
// that was withdrawn later still proves earlier decisions.
package proofs
