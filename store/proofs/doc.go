// Package proofs audits the decisions in a chain of Ideas: it checks the proof of each decision against the decision
// itself and, if keys are given, against the keys. It counts the decisions without a proof.
//
// Invariant: it judges a decision as of the time that the chain records, never as of the time in the proof. So a key
// that was withdrawn later still proves earlier decisions.
package proofs
