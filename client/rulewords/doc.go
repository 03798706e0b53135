// Package rulewords puts conditions on a Call's parameters, which are JSON Schemas, into words: those of policies and
// of standing orders.
//
// Invariant: a condition for which there are no words is mentioned, and never left out. Who shows the words also shows
// the condition as it is written, for operators.
package rulewords
