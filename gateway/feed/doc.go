// Package feed follows processes for any number of people: one watcher polls each process, for all its followers, and
// stops when there are none.
//
// A watcher asks Temporal how far the process has come (one call, which no worker answers), and the process itself only
// where that has changed. It looks several times a second while something happens, and less and less often while
// nothing does. All watchers together keep to a number of calls a second, and each to a number of questions, which a
// hosted server bills.
//
// Invariants: what followers share is one Snapshot, which never changes, and a signal that there is a newer one. Nobody
// is handed anything: who is slow misses what came in between, holds nobody up, and costs no memory. A follower sees
// the latest Snapshot in the end, and the last one of a process that has ended.
package feed
