package activities

import (
	"context"
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
)

// maxInlinePaletteBytes bounds the Tools that travel with an Idea, in bytes of JSON: every instance is started with
// them.
const maxInlinePaletteBytes = jsonval.LargeValueBytes

// maxCachedObjects is how many stored palettes and files are kept in memory, decoded: a hundred instances load Tools of
// one palette.
const maxCachedObjects = 4

// LoadObject reads members of a stored object.
func (a *Activities) LoadObject(ctx context.Context, in protocol.LoadObjectInput) (jsonval.Object, error) {
	h, ok := jsonval.AsBlobHandle(in.Handle)
	if !ok {
		return nil, fmt.Errorf("activities: load: no handle")
	}
	object, err := a.readObject(ctx, h)
	if err != nil || in.MemberNames == nil {
		return object, err
	}
	return jsonval.WithOnlyKeys(object, in.MemberNames...), nil
}

func (a *Activities) readObject(ctx context.Context, h jsonval.BlobHandle) (jsonval.Object, error) {
	if a.objectCache != nil {
		if object, ok := a.objectCache.Get(h.Digest); ok {
			return object, nil
		}
	}
	data, err := retryStoreOperation(ctx, func() ([]byte, error) { return a.Store.Get(ctx, h.Digest) })
	if err != nil {
		return nil, err
	}
	v, err := jsonval.Decode(data)
	object, ok := v.(jsonval.Object)
	if err != nil || !ok {
		return nil, fmt.Errorf("activities: load %s: it is no object: %w", h.Digest, err)
	}
	if a.objectCache != nil {
		a.objectCache.Add(h.Digest, object)
	}
	return object, nil
}

// restoreIdeaTools returns an Idea with its Tools, which may be in the store.
func (a *Activities) restoreIdeaTools(ctx context.Context, idea jsonval.Object) (jsonval.Object, error) {
	h, isStored := ideafile.StoredPaletteHandle(idea)
	if !isStored {
		return idea, nil
	}
	tools, err := a.readObject(ctx, h)
	if err != nil {
		return nil, err
	}
	return ideafile.WithTools(idea, tools), nil
}

// readIdeaWithTools reads an Idea, with its Tools. The Idea was checked before.
func (a *Activities) readIdeaWithTools(ctx context.Context, idea jsonval.Object) (*ideafile.Idea, error) {
	fullIdea, err := a.restoreIdeaTools(ctx, idea)
	if err != nil {
		return nil, err
	}
	return ideaOrError(ideafile.ReadIdeaWithoutCheckingTools(fullIdea))
}

// storePalette returns the replacement for an Idea's Tools that are too large to travel; nil if they are not too large.
func (a *Activities) storePalette(ctx context.Context, idea jsonval.Object) (jsonval.Object, error) {
	tools := jsonval.AsObject(jsonval.Lookup(idea, "schema", "tools"))
	if _, _, isStored := ideafile.ReadStoredPalette(tools); isStored ||
		jsonval.SizeUpToLimit(tools, maxInlinePaletteBytes) <= maxInlinePaletteBytes {
		return nil, nil
	}
	return a.Store.OffloadTools(ctx, tools)
}

// restoreDelegateFiles returns the Idea files of delegates with their values loaded from the store.
func (a *Activities) restoreDelegateFiles(ctx context.Context, files jsonval.Object) (jsonval.Object, error) {
	restoredFiles := make(jsonval.Object, len(files))
	for key, file := range files {
		if h, isStored := jsonval.AsBlobHandle(file); isStored {
			object, err := a.readObject(ctx, h)
			if err != nil {
				return nil, err
			}
			file = object
		}
		idea, err := a.restoreIdeaTools(ctx, jsonval.AsObject(file))
		if err != nil {
			return nil, err
		}
		restoredFiles[key] = idea
	}
	return restoredFiles, nil
}

// restoreStates adds the States to a Request's input, which travels without them: the States of the Idea that the
// Request builds on, with the changes since.
func (a *Activities) restoreStates(ctx context.Context, setup protocol.RequestSetup, input *turn.RequestInput,
	states protocol.RequestStates) error {
	baseStates, err := a.loadStates(ctx, setup, input, states.BaseIdea)
	if err == nil {
		err = input.RestoreStates(baseStates, states.DeltaByToken)
	}
	if err != nil {
		return fmt.Errorf("activities: restore the States for Request %d: %w", input.RequestNumber, err)
	}
	return nil
}

func (a *Activities) loadStates(ctx context.Context, setup protocol.RequestSetup, input *turn.RequestInput,
	baseIdea protocol.IdeaRef) (map[string]any, error) {
	if baseIdea.IdeaNumber > 0 {
		return a.Chains.States(ctx, input.ProcessID, baseIdea)
	}
	idea, err := ideaOrError(ideafile.ReadIdeaWithoutCheckingTools(setup.Idea))
	if err != nil {
		return nil, err
	}
	return turn.InitialStates(ideafile.SplitMessagesByInstance(idea.Context), input.InstanceTokens()), nil
}
