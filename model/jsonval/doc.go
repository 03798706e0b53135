// Package jsonval holds JSON values: it reads them strictly, writes them canonically, finds paths in them and computes
// what changed between two of them. All of model/ is built on it.
//
// A JSON value is a result of Decode: map[string]any, []any, string, json.Number, bool or nil.
//
//   - Decode refuses what encoding/json accepts (duplicate keys, bad UTF-8, numbers that no float64 holds, deep
//     nesting), and Encode gives the canonical bytes, over which digests are taken.
//   - Path is a place inside a value. ValueAt reads there; SetAt and RemoveAt return a changed copy.
//   - ComputeDelta returns what changed from one value to another, and ApplyDelta applies it.
//   - BlobHandle replaces a value that is too large for State and is kept in the blob store.
//
// Invariants, held by the property tests:
//
//   - Values are never changed in place, so that they may be shared freely: a function that changes something copies
//     the containers on the way to it and shares the rest.
//   - Decode(Encode(v)) equals v, and equal values have equal bytes, whatever the order in which they were built.
//   - ParsePath(p.String()) is p, for every Path, and json.Unmarshal undoes json.Marshal.
//   - ApplyDelta(a, ComputeDelta(a, b)) is b, including the exact digits of numbers.
//   - UnescapeBlobHandles(EscapeBlobHandles(v)) is v, and EscapeBlobHandles(v) holds no BlobHandle, so that no data
//     from outside can pass for one.
//
// Like all of model/ the package is pure: no clock, no I/O, no Temporal. The same arguments give the same result on any
// machine, so that workflows may call it and replay it.
package jsonval
