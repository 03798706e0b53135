// Package works holds the works to measure, a file for each. A work's description is at its function.
//
// AllWorkloads lists the works. Each measures one round on its own bed and adds its samples to a report.Recorder. Most
// also do the same in plain Go (runChainWithoutEngine, timeDiamondWithoutEngine, …), which stores nothing durably and
// shows what the LLM and the tools take by themselves.
//
// Invariants: Process Idea and plain Go get the same replies from the same scripted LLM, except where a work says
// otherwise. A work fails if the process did not do what it should, so that no figure measures something else.
package works
