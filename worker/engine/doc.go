// Package engine makes workers, for the worker, the starter and tests: NewWorker makes one that knows the workflows and
// the activities. Dependencies are what they need; FillFromEnvironment fills in what is missing.
//
// Invariant: invalid settings are refused before anything is started.
package engine
