// Package backtest runs a new Idea over the instances of finished processes, with the results that their Calls had
// there, and reports what would differ. Nothing runs outside, and nobody is asked except the Planner, if the new Idea
// needs one.
//
//	read, err := Read(past.RecordedProcess{ProcessID: id, Ideas: ideas, Log: log})
//	report, err := Compare(newIdeaWithPastData, bind, planner, read...)
//
// Every instance is run twice by the same dataflow.Instance that runs real ones: once as it went (replayCalls), and
// once as the new Idea would run it (newIdeaRun, with the loop.Loop of a real process). Each run leaves a trace: the
// Calls with their outcomes. Two traces are compared as graphs: a Call is identified by its Tool and its resolved
// parameters, never by its place, its id or its output path.
//
// Invariants:
//   - A Call that did not run then has no result: it is named, it never ends, and what depends on it is unknown.
//   - A decision that people took on a Call is applied again where the same Call is asked about. Otherwise the Call is
//     approved, and that is counted.
//   - An instance's own data comes from the past. How it is processed (Tools, Plans, texts, policies, schemas) comes
//     from the new Idea.
//   - An instance whose past cannot be replayed from its chain is left out, with the reason.
package backtest
