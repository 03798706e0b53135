// Package workflows carries a process out on Temporal. Every decision is taken in the packages under model/; here
// decisions become commands, signals and activities. This package registers the two workflows and holds the scenario
// tests; the code is in packages below internal:
//
//	process    the Process workflow: the agent loop, or the parts of a process with very many instances
//	instance   the Instance workflow: one State and its Calls
//	signals    what people can signal, in one table
//	mailbox    signals in order, in and out
//	lifecycle  continue-as-new, and watching whether the process is still there
//	display    what operators read in the Temporal UI
//
// Invariants:
//   - Nothing reads a clock, the environment, a global or a map's order; limits travel in the workflow's input.
//   - Histories recorded under testdata replay unchanged. The order of commands changes only behind workflow.GetVersion
//     (mailbox/versions.go, the only file that calls it).
//   - No child and no signal is addressed by run id, so that every workflow may continue as new at any time.
package workflows
