// Package feed follows processes for any number of people: one watcher polls each process, for all its followers, and
// stops when there are none.
//
// A watcher reads the process's revision from Temporal (one call, which no worker answers), and queries the process
// only if the revision has changed. It polls several times a second while something happens, and ever less often while
// nothing does. The calls of all watchers together are bounded, and so are each watcher's queries, which a hosted
// server bills.
//
// Invariants: followers share one immutable Snapshot, and a signal that there is a newer one. Nothing is queued for a
// follower: a slow one misses intermediate Snapshots, delays nobody, and costs no memory. Every follower finally sees
// the latest Snapshot, and the last one of a process that has ended.
package feed
