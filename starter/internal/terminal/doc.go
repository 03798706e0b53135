// Package terminal follows a process at the terminal: it shows the progress on standard error, in place if that is a
// terminal, and asks the user about each waiting Call while the process goes on.
//
// Invariants: nothing is drawn over an open question; an answer applies to exactly what was shown, by its digest; a
// question that somebody else answered is withdrawn.
package terminal
