// Package harden merges finished processes into one reusable Idea that runs without the LLM.
//
// Harden takes finished processes and returns a Result: the Idea, what could not be generalized, and notes. It works
// in steps, one file each:
//
//   - read_runs.go: reads from each process how every instance started, which Calls it had (recordedCall), and how it
//     ended (instanceRun).
//   - align.go: matches the Calls of different instances (mergedCall), by tool, output path, method and occurrence
//     number, and brings them into one order.
//   - parameters.go, places.go, output.go: finds for each parameter, and for the output, one value for all instances:
//     the same literal, the same Reference, or a Reference to the place where each instance has its literal.
//   - variants.go: divides a Call with a differing parameter into one Call for each value of the parameter.
//   - conditions.go, plans.go: finds the condition of a Call that only some instances had, and divides the Calls into
//     Plans by what must hold at the start.
//   - replay.go, given.go: replays the Plan with the recorded results, drops Calls that would run in an instance whose
//     recording lacks them, and compares each Call's parameters, and the State at the end.
//   - passes_check.go: drops what the check of the file would refuse.
//   - schema.go, idea.go: infers a closed State schema and writes the file.
//
// Invariants:
//
//   - Nothing is guessed. Where the data do not determine a value, the difference is listed in Differences. A possible
//     coincidence, and what a single instance cannot show, is noted.
//   - A Reference replaces a literal only where it resolves to that literal in every instance.
//   - The Plan is marked optimal, and so runs without the LLM, only if Differences is empty and replay
//     reproduced every final State.
//   - The written file passes the check. If no Call is left, nothing is written.
//   - If a Call is dropped, so are Calls that only it supplied.
//   - Only finished processes with the same palette and output schema are accepted, and no simulated ones.
//   - With template, the Idea contains no data of a particular process.
package harden
