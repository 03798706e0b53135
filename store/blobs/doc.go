// Package blobs is the content-addressed store: a value is known by the SHA-256 of its bytes. It uses
// gocloud.dev/blob: a folder, or a bucket by URL. With keys it encrypts everything that it stores.
//
// Put and Get take bytes. Offload and Restore move the large values within a JSON value into the store and back, with
// a jsonval.BlobHandle in place of each. Write and Read keep objects that are looked up by name, for package chain.
// ExternalStorage keeps large Temporal payloads. Values, ListUnder, Unfinished and Remove are for collecting garbage.
//
// Invariants:
//   - A write is complete or does not happen: a folder's files get their names when they are on the disk. Put checks an
//     existing value before it relies on it, and writes it again if it is not intact.
//   - A store has an id of its own (EnsureID). If a folder is no longer the store that was opened, everything fails
//     with ErrUnavailable, and nothing is written there.
//   - Equal values are stored once. Get returns exactly the bytes that were put, or an error if they have changed.
//   - A value whose digest Put has returned is younger than MaxPutValueAge, so that a collector that removes only
//     older values removes nothing that was put meanwhile.
//   - Names stay readable. With keys, all bytes are encrypted: with a data key of the context's process (WithProcess),
//     else with the store's own key. Once Forget has destroyed a data key, nothing is read or written for its process.
package blobs
