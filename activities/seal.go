package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"time"

	"processidea/activities/blobs"
	"processidea/model"
	"processidea/workflows"
)

// Seal puts one Idea on a process's chain: the Idea with all values whole, its parent's digest, and its own, in the store
// under the process's name. Doing it again writes the same place.
func (a *Activities) Seal(ctx context.Context, in workflows.SealInput) (*workflows.Sealed, error) {
	idea, err := a.Store.Restore(ctx, model.Snapshot(in.Idea, in.Brief, in.Calls, in.Output))
	if err != nil {
		return nil, err
	}
	whole := idea.(map[string]any)
	meta, _ := model.Merge(whole["meta"], map[string]any{
		"process": in.Process, "at": model.Normal(in.At), "createdAt": time.Now().UTC().Format(time.RFC3339Nano),
	}).(map[string]any)
	if in.Parent != "" {
		meta["parent"] = in.Parent
	}
	delete(meta, "digest")
	whole["meta"] = meta
	sum := sha256.Sum256(model.Encode(whole))
	digest := hex.EncodeToString(sum[:])
	meta["digest"] = digest
	place := IdeaPlace(in.Process, in.At)
	if err := a.Store.Write(ctx, place, model.Encode(whole)); err != nil {
		return nil, err
	}
	return &workflows.Sealed{At: in.At, Digest: digest, Place: place}, nil
}

// IdeaPlace names the place of a process's Idea in the store.
func IdeaPlace(process string, at int) string {
	return fmt.Sprintf("ideas/%s/%d.json", url.PathEscape(process), at)
}

// LoadIdea reads the Idea of a number; ok is false where the chain has none.
func LoadIdea(ctx context.Context, s *blobs.Store, process string, at int) (idea map[string]any, ok bool, err error) {
	data, ok, err := s.Read(ctx, IdeaPlace(process, at))
	if err != nil || !ok {
		return nil, ok, err
	}
	idea, err = model.DecodeObject(data)
	return idea, err == nil, err
}
