// Package chain keeps the Ideas of a process. Each is sealed by its digest and names the digest of its parent. The
// package works with the store alone, without Temporal and without a worker; only ReadTemporal asks a server.
//
//	Seal                 put an Idea on the chain
//	List, Load, States   what is there
//	Log, Blame           what changed, and who wrote a value
//	Verify, Export, VerifyExport, ForkedIdea
//	Forget               remove the contents of a process, and leave what links its Ideas
//	Collect              remove old chains, and values that neither a chain nor NamespaceContents refers to
//
// An Idea's manifest is stored under ideas/<process>/<number>.json. Its body is stored whole, or as the difference from
// an earlier Idea (state.go says from which). Its parts are stored under their digests; small ones, in the manifest.
//
// Invariants:
//   - The digest is SHA-256 over the canonical bytes of the whole Idea without meta.digest, however the Idea is stored.
//   - Sealing the same Idea again changes nothing. An Idea that others follow is never replaced (ErrConflict).
//   - A changed or missing byte is found by Verify, with the first Idea that it harms and the part that it is in.
//   - At most 45 differences lead to any Idea, and a difference is written three times at most.
//   - Collect removes nothing written after CollectRules.Before, and no chain whose process is open in Temporal.
package chain
