// Package proofs checks again, from what a chain of Ideas keeps, what proves who decided: each decision with its proof,
// against the decision itself and, where keys are at hand, against them. It counts the decisions that people only
// declared.
//
// Invariant: it judges a decision as of the time when it was taken, which the chain tells, and never by what the proof
// says of its own age: a key that was withdrawn since goes on proving what was decided before.
package proofs
