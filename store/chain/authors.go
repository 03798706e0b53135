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

// Authors answers what Blame answers, for many values of one Idea's States at once.
type Authors struct {
	first  ideafile.ContextByInstance // the context of the first Idea
	states sync.Map                   // the States in that context that were asked for, by token
	writes map[string][]turn.LogEntry
}

// Authors reads who wrote the States of a process up to Idea at. The error wraps ErrNoIdea if there is no such Idea.
func (s *Store) Authors(ctx context.Context, process string, at int) (a *Authors, err error) {
	defer wrapError(&err, "find who wrote in %s", process)
	manifests, err := s.manifestsUpTo(ctx, process, at)
	if err != nil {
		return nil, err
	}
	first, _, err := s.load(ctx, manifests[0], nil)
	if err != nil {
		return nil, err
	}
	a = &Authors{first: ideafile.SplitContextByInstance(first["context"]), writes: map[string][]turn.LogEntry{}}
	err = s.eachEntry(ctx, manifests, false, func(_ *manifest, e turn.LogEntry) {
		if e.IsWrite() {
			a.writes[e.Instance] = turn.AddWrite(a.writes[e.Instance], e)
		}
	})
	for _, list := range a.writes {
		slices.SortStableFunc(list, comparePlanOrder)
	}
	return a, err
}

func comparePlanOrder(x, y turn.LogEntry) int {
	return cmp.Or(cmp.Compare(x.Request, y.Request), cmp.Compare(x.Index, y.Index),
		cmp.Compare(x.CorrectionNumber, y.CorrectionNumber))
}

// initial returns the State that an instance began with.
func (a *Authors) initial(instance string) any {
	state, known := a.states.Load(instance)
	if !known {
		state = a.first.InstanceView(instance).PayloadByKind[ideafile.TypeState]
		a.states.Store(instance, state)
	}
	return state
}

// AuthorOf returns the last author of the value at a path, with the log entry of that write; ByStart or ByUnknown have
// no entry. single is false where several authors wrote parts of the value.
func (a *Authors) AuthorOf(instance string, path jsonval.Path) (by string, entry *turn.LogEntry, single bool) {
	all := jsonval.Filter(a.writes[instance], func(e turn.LogEntry) bool { return e.Path.Overlaps(path) })
	const maxWrites = 200 // writes that are followed one by one
	if len(all) <= maxWrites && slices.ContainsFunc(all,
		func(e turn.LogEntry) bool { return statelog.IsUpdateWrite(e.OutputMethod, e.Path) }) {
		all = a.withoutOverwritten(instance, path, all)
	}
	_, there := jsonval.ValueAt(a.initial(instance), path)
	if len(all) == 0 {
		if there {
			return ByStart, nil, true
		}
		return ByUnknown, nil, true
	}
	last := &all[len(all)-1]
	below := slices.ContainsFunc(all, func(e turn.LogEntry) bool { return len(e.Path) > len(path) })
	others := there || slices.ContainsFunc(all, func(e turn.LogEntry) bool { return e.Author != last.Author })
	return last.Author, last, !below || !others
}

// withoutOverwritten drops the writes that do not contribute to the value, such as a push of another element.
func (a *Authors) withoutOverwritten(instance string, path jsonval.Path, all []turn.LogEntry) []turn.LogEntry {
	list, _ := contributingWrites(a.initial(instance), all, path)
	if len(list) == 0 { // large values in the store are not restored here: every write to the place counts
		return all
	}
	made := make([]turn.LogEntry, len(list))
	for n, at := range list {
		made[n] = all[at]
	}
	return made
}

// contributingWrites returns the indexes of the writes that made the value at a path, and the value that results from
// them.
func contributingWrites(initial any, all []turn.LogEntry, path jsonval.Path) (list []int, value any) {
	writes := make([]statelog.Write, len(all))
	for n, e := range all {
		writes[n] = e.Write
	}
	list, value, _ = statelog.ContributingWrites(initial, writes, path)
	return list, value
}
