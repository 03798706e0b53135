// Package works holds what is measured, a file for each work. What a work does stands before its function.
//
// All lists the works; each measures one round on a bed of its own and adds its samples to a report.Record. Most do the
// same in plain Go beside it (plainChain, diamondWithoutEngine, …), which keeps nothing and shows what the LLM and
// the tools take by themselves.
//
// Invariants: Process Idea and plain Go hear the same replies from the same scripted LLM; a work fails if the process
// did not do what it should, so that no figure measures something else.
package works
