// Package engine makes workers, for the worker, the starter and tests: NewWorker makes one that knows the workflows and
// the activities. Parts are its dependencies; FromEnvironment fills in what is missing.
//
// Invariant: invalid settings are refused before anything is started.
package engine
