// Package blobs is the content-addressed store: a value is known by the SHA-256 of its bytes. It stands on
// gocloud.dev/blob: a folder, or a bucket by URL. With keys it encrypts what it keeps.
//
// Put and Get take bytes; Offload and Restore move the large values within a JSON value into the store and back, with
// jsonval.Handle in their places. Write and Read keep what is looked up by name, for package chain. ExternalStorage
// keeps large Temporal payloads. Values, Under, Unfinished and Remove are for collecting garbage.
//
// Invariants:
//   - A write is whole or it is not: a folder's files get their names when they are on the disk. What lies under a
//     digest is looked at before Put relies on it, once for each program, and is written anew where it is not what it
//     should be.
//   - A store has an id of its own (Mark). Where a folder is not the one any more that was opened, everything fails
//     with ErrUnavailable, and nothing is written there.
//   - What is the same is stored once, and Get returns exactly the bytes that were put, or an error: changed bytes are
//     found.
//   - A value that Put has returned the digest of looks younger than Freshness, so that a collector that removes only
//     older values takes nothing that was put meanwhile.
//   - Names stay readable; with keys, the bytes of everything are encrypted: with a data key of the process that the
//     context is for (ForProcess), else with the store's own. Once Forget has destroyed a data key, nothing is read or
//     written for its process.
package blobs
