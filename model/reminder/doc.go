// Package reminder decides what happens while a Call waits for people and nobody has decided: when people are told again, and when others may
// decide too.
//
// Invariants: an escalation only adds people to those who may decide; how many must, who may not, and what they must prove stays as it is. What
// is due at one moment is one reminder, however many times have passed, so that people are not told twice at once.
package reminder
