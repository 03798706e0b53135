// Package output makes the output of a process of what was written: an output may hold References to values of State, and a Wiring says
// over which instances they are resolved. Resolve lays several over each other, as those of several direct Plans, and checks the whole
// against the output form.
//
// In a process of several instances a Reference to State stands for an object with the value of each instance that has one, by its token.
// One that has failed, or took another way, is left out; where none has a value, the output is refused.
//
// Invariant: the same Wirings over the same States give the same output, whether the process is split or not.
package output
