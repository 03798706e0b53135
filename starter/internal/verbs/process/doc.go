// Package process holds the verbs that start processes and look at them as a whole: run, fork, simulate, check, watch,
// list and result. One file is one verb; launch.go is what those that start have in common.
package process
