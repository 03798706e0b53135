package chain

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// AuthorFinder answers what Blame answers, for many values of one Idea's States at once.
type AuthorFinder struct {
	firstIdeaContext ideafile.ContextByInstance // the context of the first Idea
	initialStates    sync.Map                   // the States in that context that were asked for, by token
	writesByInstance map[string][]turn.LogEntry
}

// Authors reads who wrote the States of a process up to Idea at. The error wraps ErrNoIdea if there is no such Idea.
func (s *Store) Authors(ctx context.Context, processID string, ideaNumber int) (a *AuthorFinder, err error) {
	defer wrapError(&err, "find who wrote in %s", processID)
	manifests, err := s.manifestsUpTo(ctx, processID, ideaNumber)
	if err != nil {
		return nil, err
	}
	firstIdea, _, err := s.load(ctx, manifests[0], nil)
	if err != nil {
		return nil, err
	}
	a = &AuthorFinder{firstIdeaContext: ideafile.SplitContextByInstance(firstIdea["context"]),
		writesByInstance: map[string][]turn.LogEntry{}}
	err = s.eachLogEntry(ctx, manifests, false, func(_ *manifest, e turn.LogEntry) {
		if e.IsWrite() {
			a.writesByInstance[e.InstanceToken] = turn.ApplyWrite(a.writesByInstance[e.InstanceToken], e)
		}
	})
	for _, list := range a.writesByInstance {
		slices.SortStableFunc(list, comparePlanOrder)
	}
	return a, err
}

func comparePlanOrder(x, y turn.LogEntry) int {
	return cmp.Or(cmp.Compare(x.Request, y.Request), cmp.Compare(x.Index, y.Index),
		cmp.Compare(x.CorrectionNumber, y.CorrectionNumber))
}

// initialState returns the State that an instance began with.
func (a *AuthorFinder) initialState(instance string) any {
	state, isCached := a.initialStates.Load(instance)
	if !isCached {
		state = a.firstIdeaContext.InstanceView(instance).PayloadByKind[ideafile.TypeState]
		a.initialStates.Store(instance, state)
	}
	return state
}

// AuthorOf returns the last author of the value at a path, with the log entry of that write; AuthorStart or
// AuthorUnknown have no entry. isSole is false where several authors wrote parts of the value.
func (a *AuthorFinder) AuthorOf(instance string, path jsonval.Path) (author string, entry *turn.LogEntry, isSole bool) {
	writes := jsonval.Filter(a.writesByInstance[instance], func(e turn.LogEntry) bool { return e.Path.Overlaps(path) })
	const maxFollowedWrites = 200 // writes that are followed one by one
	if len(writes) <= maxFollowedWrites && slices.ContainsFunc(writes,
		func(e turn.LogEntry) bool { return statelog.IsUpdateWrite(e.OutputMethod, e.Path) }) {
		writes = a.dropOverwritten(instance, path, writes)
	}
	_, existedInitially := jsonval.ValueAt(a.initialState(instance), path)
	if len(writes) == 0 {
		if existedInitially {
			return AuthorStart, nil, true
		}
		return AuthorUnknown, nil, true
	}
	lastWrite := &writes[len(writes)-1]
	hasWritesBelow := slices.ContainsFunc(writes, func(e turn.LogEntry) bool { return len(e.Path) > len(path) })
	hasOtherAuthors := existedInitially || slices.ContainsFunc(writes,
		func(e turn.LogEntry) bool { return e.Author != lastWrite.Author })
	return lastWrite.Author, lastWrite, !hasWritesBelow || !hasOtherAuthors
}

// dropOverwritten drops the writes that do not contribute to the value, such as a push of another element.
func (a *AuthorFinder) dropOverwritten(instance string, path jsonval.Path, entries []turn.LogEntry) []turn.LogEntry {
	indexes, _ := contributingWriteIndexes(a.initialState(instance), entries, path)
	if len(indexes) == 0 { // large values in the store are not restored here: every write to the place counts
		return entries
	}
	contributingEntries := make([]turn.LogEntry, len(indexes))
	for n, index := range indexes {
		contributingEntries[n] = entries[index]
	}
	return contributingEntries
}

// contributingWriteIndexes returns the indexes of the writes that made the value at a path, and the value that results
// from them.
func contributingWriteIndexes(initialState any, entries []turn.LogEntry, path jsonval.Path) (indexes []int, value any) {
	writes := make([]statelog.Write, len(entries))
	for n, e := range entries {
		writes[n] = e.Write
	}
	indexes, value, _ = statelog.ContributingWriteIndexes(initialState, writes, path)
	return indexes, value
}
