// Package lifecycle is what every workflow here has in common over its life: when it continues as new, how it outlives
// the run of its parent, and how it learns that its process has ended.
//
// Invariants:
//   - Children are started with ABANDON, because Temporal applies the parent close policy at continue-as-new too. So a
//     workflow ends its children itself, and a child watches the processes that it belongs to (WatchProcesses): nobody
//     tells it when one of them is terminated. Where actions are billed, package worker/orphans does that for all
//     children.
//   - A process is identified by workflow id and first run id: the workflow id alone may be used again by another
//     process.
package lifecycle
