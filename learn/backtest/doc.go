// Package backtest runs a new Idea over the instances of processes that have finished, with the results that Calls had
// there, and says what would differ. Nothing runs outside, and nobody is asked but the Planner, where the new Idea
// needs one.
//
//	read, err := Read(past.Run{ProcessID: id, Ideas: ideas, Log: log})
//	report, err := Compare(newIdea, bind, planner, read...)
//
// Every instance is run twice by the same dataflow.Instance that runs real ones: as it went (replayCalls), and as the
// new Idea would have it go (newRun, with the loop.Loop of a real process). Each run leaves a trace, the Calls with
// what became of them, and two traces are compared as graphs: a Call is known by its Tool and its resolved parameters,
// never by its place, its id or its output path.
//
// Invariants:
//   - A Call that did not run then has no result: it is named, it never ends, and what depends on it is not known.
//   - A decision that people took on a Call is taken again where the same Call is asked about; else the Call is
//     approved, and that is counted.
//   - What an instance has of its own is the past's; what says how it is done (Tools, Plans, texts, policies, schemas)
//     is the new Idea's.
//   - An instance whose past cannot be repeated from its chain is left out, with the reason.
package backtest
