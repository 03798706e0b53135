// Package process holds the verbs that start processes and look at them as a whole: run, fork, undo, simulate, check,
// watch, list, result and schedule. Each verb has a file; launch.go holds what the starting verbs have in common.
package process
