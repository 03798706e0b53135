package backtest

import (
	"slices"

	"processidea/learn/past"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// undoWrites finds the State with which an instance began, if Calls of a direct Plan had ended before its first Idea
// was sealed. It takes their writes out of the final State. A replay of the instance then shows whether that State was
// right. An object left empty may have been there before, or have come with a write; prune removes it.
func (of *chain) undoWrites(i *pastInstance, prune bool) {
	i.undone = true
	state := i.finalState
	for _, e := range slices.Backward(of.writes[i.token]) {
		state = withoutWrite(state, e, prune)
	}
	m := ideafile.Message{Type: ideafile.TypeState, PayloadKind: ideafile.TypeState, InstanceToken: i.token,
		Payload: state}
	m.Source = ideafile.DataMessage(m)
	i.own = append(slices.DeleteFunc(i.own,
		func(m ideafile.Message) bool { return m.PayloadKind == ideafile.TypeState }), m)
}

// hasEndedDirectCalls reports whether Calls of a direct Plan had ended when the instance's first Idea was sealed. It is
// false for a fork, whose first Idea shows what the instance began with.
func hasEndedDirectCalls(first *ideafile.Idea, token string) bool {
	if jsonval.At(first.Source, "meta", "origin") != nil {
		return false
	}
	return slices.ContainsFunc(past.RecordedCalls(first),
		func(p turn.RecordedCall) bool { return p.Request == 0 && p.StatusByInstance[token].IsFinal() })
}

// withoutWrite is a State without a write.
func withoutWrite(state any, e turn.LogEntry, prune bool) any {
	at, _ := jsonval.ValueAt(state, e.Path)
	whole, isObject := e.Value.(jsonval.Object)
	if isObject && (e.OutputMethod == "assign" || e.OutputMethod == "merge" || len(e.Path) == 0) {
		for k := range jsonval.Sorted(whole) {
			state = removeValue(state, slices.Concat(e.Path, jsonval.Path{k}), prune)
		}
		return state
	}
	list := jsonval.AsList(at)
	undone := 0
	switch e.OutputMethod {
	case "push":
		undone = 1
	case "concat":
		values := jsonval.AsList(e.Value)
		undone = len(values)
	}
	if undone > 0 && undone < len(list) {
		state, _ = jsonval.SetAt(state, e.Path, list[:len(list)-undone:len(list)-undone])
		return state
	}
	return removeValue(state, e.Path, prune)
}

// removeValue is a State without the value at a path. With prune, it also removes the objects above it that are then
// empty.
func removeValue(state any, p jsonval.Path, prune bool) any {
	for ; len(p) > 0; p = p[:len(p)-1] {
		less, ok := jsonval.RemoveAt(state, p)
		if !ok {
			return state
		}
		state = less
		above, isObject := jsonval.ValueAt(state, p[:len(p)-1])
		if !prune || !isObject || len(jsonval.AsObject(above)) > 0 || len(p) == 1 {
			return state
		}
	}
	return state
}
