// Package chain keeps the Ideas of a process. Each is sealed by its digest and names the digest of its parent. All of
// it works with the store alone, without Temporal and without a worker; only ReadTemporal asks a server.
//
//	Seal                 put an Idea on the chain
//	List, Load, States   what is there
//	Log, Diff, Blame     what changed, between two Ideas, and who wrote a value
//	Verify, Export, VerifyExport, Fork
//	Forget               remove the contents of a process, and leave what links its Ideas
//	Collect              remove old chains and what nobody refers to, but for what Held knows to be in use
//
// An Idea's manifest lies under ideas/<process>/<number>.json. Its body is stored whole, or as the difference from an
// Idea before it (state.go says from which); its parts lie under their digests, or within the manifest where they are
// small.
//
// Invariants:
//   - The digest is SHA-256 over the canonical bytes of the whole Idea without meta.digest, however the Idea is stored.
//   - Sealing the same again changes nothing. An Idea that others follow is never replaced (ErrConflict).
//   - A changed or missing byte is found by Verify, with the first Idea that it harms and the part that it is in.
//   - At most 45 differences lead to any Idea, and a difference is written three times at most.
//   - Collect removes nothing that is younger than blobs.Freshness, and no chain of which anything is open.
package chain
