// Package planpage is the page of a Plan that waits as a whole: what it shows of each Call, and what a person makes of
// the Calls there.
//
// New shows a Plan as it waits, Read what was sent of it. The Calls are changed in a form without a script: each press
// of a button sends all of it, and the page shows it again with what was asked for.
//
// Invariants: a Call that nobody touched is the one that was planned, to the byte. Whether a Plan can run is judged by
// its process alone: here only what cannot be read is refused.
package planpage
