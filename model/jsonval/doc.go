// Package jsonval holds JSON values: it reads them strictly, writes them canonically, finds places in them and keeps
// what changed between two of them. All of model/ stands on it.
//
// A JSON value is what Decode gives: map[string]any, []any, string, json.Number, bool or nil.
//
//   - Decode refuses what encoding/json lets pass (duplicate keys, bad UTF-8, numbers that no float64 holds, deep
//     nesting), and Encode gives the canonical bytes, over which digests are taken.
//   - Path is a place inside a value. Lookup reads there; Put and Remove give a changed copy.
//   - Delta is what changed from one value to another, and ApplyDelta applies it.
//   - Handle stands for a value that is too large for State and lies in the blob store.
//
// Invariants, held by the property tests:
//
//   - Values are never changed in place, so that they may be shared freely: a function that changes something copies
//     what lies on the way to it and shares the rest.
//   - Decode(Encode(v)) equals v, and equal values have equal bytes, whatever the order in which they were built.
//   - ParsePath(p.String()) is p, for every Path, and json.Unmarshal undoes json.Marshal.
//   - ApplyDelta(a, Delta(a, b)) is b, including the exact digits of numbers.
//   - Unescape(Escape(v)) is v, and Escape(v) holds no Handle, so that no data from outside can pass for one.
//
// Like all of model/ the package is pure: no clock, no I/O, no Temporal. The same arguments give the same result on any
// machine, so that workflows may call it and replay it.
package jsonval
