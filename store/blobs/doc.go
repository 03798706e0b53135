// Package blobs is the content-addressed store: a value is known by the SHA-256 of its bytes. It stands on gocloud.dev/blob:
// a folder, or a bucket by URL. With keys it encrypts what it keeps.
//
// Put and Get take bytes; Offload and Restore move the large values within a JSON value into the store and back, with
// jsonval.Handle in their places. Write and Read keep what is looked up by name, for package chain. ExternalStorage keeps
// large Temporal payloads. Values, Under and Remove are for collecting garbage.
//
// Invariants:
//   - What is the same is stored once, and Get returns exactly the bytes that were put, or an error: changed bytes are found.
//   - A value that Put has returned the digest of looks younger than Freshness, so that a collector that removes only older
//     values takes nothing that was put meanwhile.
//   - Names stay readable; with keys, the bytes of everything are encrypted.
package blobs
