// Package harden merges finished processes into one reusable Idea that runs without the LLM.
//
// Harden takes finished processes and returns a Result: the Idea, what could not be generalized, and notes. It works
// in steps, one file each:
//
//   - read_runs.go: reads of each process how every instance started, which Calls it had (recordedCall), and how it
//     ended (instanceRun).
//   - align.go: matches the Calls of different instances (mergedCall), by tool, output path, method and occurrence
//     number, and brings them into one order.
//   - parameters.go, places.go, output.go: finds for each parameter, and for the output, one value for all instances:
//     the same literal, the same Reference, or a Reference to the place where each instance has its literal.
//   - variants.go: divides a Call of which a parameter differs into one for each of its values.
//   - conditions.go, plans.go: finds when a Call runs that only some instances had, and divides the Calls into Plans by
//     what must hold at the start.
//   - replay.go, given.go: runs the Plan with the recorded results, drops Calls that would run in an instance whose
//     recording lacks them, and compares what each Call is given, and the State at the end.
//   - passes_check.go: drops what the check of the file would refuse.
//   - schema.go, idea.go: infers a closed State schema and writes the file.
//
// Invariants:
//
//   - Nothing is guessed. Where the data do not determine a value, the difference is listed in Differences. What may be
//     a coincidence, and what one instance cannot tell, is noted.
//   - A Reference replaces a literal only where it resolves to that literal in every instance.
//   - The Plan is marked optimal, and so runs without the LLM, only if Differences is empty and replay
//     reproduced every final State.
//   - What is written passes the check. Where no Call is left, nothing is written.
//   - If a Call is dropped, so are Calls that only it supplied.
//   - Only finished processes with the same palette and output schema are accepted, and no simulated ones.
//   - With template, the Idea contains no data of a particular process.
package harden
