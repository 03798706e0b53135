// Package workflows carries a process out on Temporal: Process is the mind, which asks the LLM and decides whether to go
// on; Instance is the hands, which own one State and run its Calls. Every decision is taken in package model; here it is
// put into commands, signals and activities.
package workflows
