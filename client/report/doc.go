// Package report describes what a process did, in plain words: who decided what, how that is proved, and all of it as
// one HTML file.
//
// The file can be opened anywhere: it loads nothing, contains no script, and needs no part of this program. It is made
// from the chain of Ideas alone, so that a process which Temporal has forgotten has one too.
//
// Invariants: whatever comes from a process is rendered as text; what is left out for size is counted.
package report
