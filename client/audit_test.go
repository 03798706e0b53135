package client

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"processidea/store/blobs"
	"processidea/store/chain"
)

// A process is whole if the chains of its parts and delegates are, at any depth, and of no other process.
func TestAChangedChainOfAPartOrADelegateIsFound(t *testing.T) {
	t.Parallel()
	for _, changed := range []string{"p/~part/2", "p/~call/0.1@b", "p/~part/2/~call/0.1@b"} {
		dir := t.TempDir()
		store, err := blobs.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		for _, id := range []string{"p", "p/~part/1", "p/~part/2", "p/~call/0.1@b", "p/~part/2/~call/0.1@b", "p2"} {
			parentDigest := ""
			for number := range 2 {
				sealed, err := chain.New(store).Seal(t.Context(), chain.IdeaToSeal{ProcessID: id,
					IdeaNumber: number + 1, ParentDigest: parentDigest,
					Idea: map[string]any{"meta": map[string]any{"path": "intact"}}})
				if err != nil {
					t.Fatal(err)
				}
				parentDigest = sealed.Digest
			}
		}
		c := New(nil, "", store).Chain("p")
		if r, err := c.Verify(t.Context()); err != nil || !r.IsIntact || r.ChildChainCount != 4 {
			t.Fatalf("%+v, %v", r, err)
		}
		place := chain.ManifestName(changed, 1)
		_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, _ error) error {
			data, err := os.ReadFile(name)
			if err == nil && strings.HasSuffix(name, filepath.FromSlash(place)) {
				data[len(data)/2] ^= 1
				if err := os.WriteFile(name, data, 0o600); err != nil {
					t.Error(err)
				}
			}
			return nil
		})
		r, err := c.Verify(t.Context())
		if err != nil || r.IsIntact || len(r.Broken) == 0 || r.Broken[0].Item != place ||
			!strings.HasPrefix(r.Broken[0].Problem, "in "+changed+": ") ||
			!slices.Contains(r.Broken[0].UnloadableIdeaNumbers, 2) {
			t.Errorf("%s changed: %+v, %v", changed, r, err)
		}
		if r, err := c.VerifyOwnChain(t.Context(), func(int, int) {}); err != nil || !r.IsIntact {
			t.Errorf("%s changed: its own chain: %+v, %v", changed, r, err)
		}
	}
}
