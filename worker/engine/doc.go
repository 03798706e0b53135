// Package engine makes workers, for the worker, the starter and tests alike: NewWorker makes one that knows the
// workflows and the activities. Parts is what it is made of; FromEnvironment fills in what is missing.
//
// Invariant: settings that cannot be meant are refused before anything is started.
package engine
