// Package statelog keeps an instance's State: its initial value and every write since, each a patch with its author.
//
//   - State is the log of writes and the resulting value; Write is one patch, at its author's place in the Plan.
//   - ResultContract is what a result must fit before it is written: the State schema at the paths of its Call.
//   - MissingRequiredPaths lists what a State schema requires and a State does not have yet.
//
// A write is write-once, or a declared update with a method (assign, merge, push, concat). Write-once sets a value at a
// path, which is then closed. An update changes the existing value; a write of the whole State is an update too.
//
// Invariants, which the property tests check:
//
//   - The State depends only on its writes and their places in the Plan, not on the order in which they came.
//   - The writes are listed in Plan order.
//   - No write changes a value that was returned before.
//   - If a parent on the path is no object, the write does nothing: AuthorWhoClosedPath and the ResultContract decide
//     beforehand whether a path may be written.
//   - A reader sees every write-once value, and exactly those updates that precede it in the Plan.
package statelog
