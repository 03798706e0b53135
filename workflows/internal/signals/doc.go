// Package signals holds the signals that people send a process: the decisions on Calls, and those that steer it.
//
// A kind of signal is one entry in one table (table.go): its name, its description for the Temporal UI, how its payload
// is read, and the method of ProcessHandler that handles it. One handler serves the ordinary process and the one that
// is split into parts. A test compares the table with the kinds that the packages under model/ know: those of decisions
// in package policy, those of steering in package approval.
//
// A new steering signal needs, beside tests and documents: model/approval/steering.go (its name and ReadSteering),
// table.go here (with the method of ProcessHandler), process/people.go (the handler).
package signals
