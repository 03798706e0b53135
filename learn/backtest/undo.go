package backtest

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// restoreStartState finds the State with which an instance began, if Calls of a direct Plan had ended before its first
// Idea was sealed. It takes their writes out of the final State. A replay of the instance then shows whether that State
// was right. An object left empty may have been there before, or have come with a write; with removesEmptyParents it is
// removed.
func (ch *chain) restoreStartState(i *pastInstance, removesEmptyParents bool) {
	i.isStartStateRestored = true
	state := i.finalState
	for _, e := range slices.Backward(ch.WritesByInstance[i.token]) {
		state = withoutWrite(state, e, removesEmptyParents)
	}
	m := ideafile.Message{Type: ideafile.TypeState, PayloadKind: ideafile.TypeState, InstanceToken: i.token,
		Payload: state}
	m.Source = ideafile.EncodePayloadMessage(m)
	i.ownMessages = append(slices.DeleteFunc(i.ownMessages,
		func(m ideafile.Message) bool { return m.PayloadKind == ideafile.TypeState }), m)
}

// withoutWrite is a State without a write.
func withoutWrite(state any, e turn.LogEntry, removesEmptyParents bool) any {
	currentValue, _ := jsonval.ValueAt(state, e.Path)
	object, isObject := e.Value.(jsonval.Object)
	if isObject && (e.OutputMethod == "assign" || e.OutputMethod == "merge" || len(e.Path) == 0) {
		for k := range jsonval.Sorted(object) {
			state = withoutValue(state, slices.Concat(e.Path, jsonval.Path{k}), removesEmptyParents)
		}
		return state
	}
	currentItems := jsonval.AsList(currentValue)
	addedItemCount := 0
	switch e.OutputMethod {
	case "push":
		addedItemCount = 1
	case "concat":
		values := jsonval.AsList(e.Value)
		addedItemCount = len(values)
	}
	if addedItemCount > 0 && addedItemCount < len(currentItems) {
		state, _ = jsonval.SetAt(state, e.Path,
			currentItems[:len(currentItems)-addedItemCount:len(currentItems)-addedItemCount])
		return state
	}
	return withoutValue(state, e.Path, removesEmptyParents)
}

// withoutValue is a State without the value at a path. With removesEmptyParents, it also removes the objects above it
// that are then empty.
func withoutValue(state any, p jsonval.Path, removesEmptyParents bool) any {
	for ; len(p) > 0; p = p[:len(p)-1] {
		shrunk, ok := jsonval.RemoveAt(state, p)
		if !ok {
			return state
		}
		state = shrunk
		parent, isObject := jsonval.ValueAt(state, p[:len(p)-1])
		if !removesEmptyParents || !isObject || len(jsonval.AsObject(parent)) > 0 || len(p) == 1 {
			return state
		}
	}
	return state
}
