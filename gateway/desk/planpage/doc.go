// Package planpage is the page of a Plan that waits as a whole: what it shows of each Call, and how a person changes
// the Calls.
//
// New shows a waiting Plan, Read reads the sent form. The Calls are changed in a form without a script: each press of a
// button sends all of it, and the page shows it again with the change.
//
// Invariants: a Call that nobody touched stays as it was planned, to the byte. Only the process decides whether a Plan
// can run; the page refuses only what it cannot read.
package planpage
