// Package signals is what people can signal a process: the decisions on Calls, and what steers the process.
//
// A kind of signal is one entry in one table (table.go): its name, its description for the Temporal UI, how its payload is
// read, and the method of Process that handles it. Process is implemented by the ordinary process and by the one that is split
// into parts, so that a kind which one of them does not handle does not compile; a test compares the table with the kinds that
// package model knows.
//
// A new steering signal touches four files beside tests and documents: the model's reading of it (its name and
// ReadSteering), the table here with the method of Process, and the two handlers, process/people.go and
// process/split_people.go.
package signals
