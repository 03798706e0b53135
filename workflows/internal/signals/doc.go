// Package signals is what people can signal a process: the decisions on Calls, and what steers the process.
//
// A kind of signal is one entry in one table (table.go): its name, its description for the Temporal UI, how its payload is
// read, and the method of Process that handles it. Process is implemented by the ordinary process and by the one that is split
// into parts, so that a kind which one of them does not handle does not compile; a test compares the table with the kinds that
// the packages under model/ know: those of decisions in package turn, those of steering in package loop.
//
// A new steering signal needs, beside tests and documents: loop/steering.go (its name and ReadSteering), table.go here (with the
// method of Process), process/people.go and process/split_people.go (the handlers).
package signals
