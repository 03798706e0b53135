// Package statelog keeps an instance's State: what it started with and every write since, each a patch with its author.
//
//   - State is the log and the value that it yields; Write is one patch, at its author's place in the Plan.
//   - ResultContract is what a result must fit before it is written: the State schema at the paths of its Call.
//   - MissingRequiredPaths lists what a State schema requires and a State does not have yet.
//
// A write is write-once, or a declared update with a method (assign, merge, push, concat). Write-once puts a value at a
// path, which is then closed. An update changes what stands there; a write of the whole State is one too.
//
// Invariants, held by the property tests:
//
//   - The State depends on its writes and their places in the Plan alone, not on the order in which they came.
//   - The writes are listed in Plan order.
//   - No write changes a value that somebody was given before.
//   - If a parent on the path is no object, the write does nothing: whether a path may be written is decided before, by
//     Closed and by the ResultContract.
//   - A reader sees every write-once value, and of the updates exactly those that stand before it in the Plan.
package statelog
