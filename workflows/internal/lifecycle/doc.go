// Package lifecycle is what all workflows here have in common over their life: when they continue as new, how they
// outlive the run of their parent, and how they learn that their process has ended.
//
// Invariants:
//   - Children are started with ABANDON, because Temporal applies the parent close policy at continue-as-new too. So a
//     workflow ends its children itself, and a child watches the processes that it belongs to (WatchProcesses), since a
//     terminated process notifies nobody. Where actions are billed, package worker/orphans watches for all children.
//   - A process is identified by workflow id and first run id: another process may use the same workflow id again.
package lifecycle
