// Package progress tells whether the Requests of a process still bring anything new. A Watch is shown, after each Request of which
// something failed, how far the process has come (Counts) and what failed (FailureDigest); its Fault is why the process pauses.
//
// # Invariants
//   - Counts never fall.
//   - What a person did counts as something new; so does a failure that is new, once.
//   - Failures that differ in numbers, times and ids alone are one.
package progress
