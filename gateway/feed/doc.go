// Package feed follows processes for any number of people: one watcher observes each process, however many follow it,
// and none does when nobody follows.
//
// A watcher asks Temporal how far the process has come (one call, which needs no worker), and queries the process
// itself only after a change. It looks several times a second while something happens, and less and less often while
// nothing does. The calls a second of all watchers together are bounded. So are the queries of each watcher, which a
// hosted server bills.
//
// Invariants: followers share one Snapshot, which never changes, and a signal that there is a newer one. Nothing is
// pushed to a follower: a slow one misses the Snapshots in between, delays nobody, and costs no memory. Every follower
// sees the latest Snapshot in the end, and the last one of a process that has ended.
package feed
