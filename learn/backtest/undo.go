package backtest

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// restoreStartState finds the State with which an instance began, if Calls of a direct Plan had ended before its first
// Idea was sealed. It takes their writes out of the final State. A replay of the instance then shows whether that State
// was right. An object left empty may have been there before, or have come with a write; with shouldPrune it is
// removed.
func (ch *chain) restoreStartState(i *pastInstance, shouldPrune bool) {
	i.isStartStateRestored = true
	state := i.finalState
	for _, e := range slices.Backward(ch.WritesByInstance[i.token]) {
		state = removeWrite(state, e, shouldPrune)
	}
	m := ideafile.Message{Type: ideafile.TypeState, PayloadKind: ideafile.TypeState, InstanceToken: i.token,
		Payload: state}
	m.Source = ideafile.EncodePayloadMessage(m)
	i.ownMessages = append(slices.DeleteFunc(i.ownMessages,
		func(m ideafile.Message) bool { return m.PayloadKind == ideafile.TypeState }), m)
}

// removeWrite is a State without a write.
func removeWrite(state any, e turn.LogEntry, shouldPrune bool) any {
	current, _ := jsonval.ValueAt(state, e.Path)
	object, isObject := e.Value.(jsonval.Object)
	if isObject && (e.OutputMethod == "assign" || e.OutputMethod == "merge" || len(e.Path) == 0) {
		for k := range jsonval.Sorted(object) {
			state = removeValue(state, slices.Concat(e.Path, jsonval.Path{k}), shouldPrune)
		}
		return state
	}
	list := jsonval.AsList(current)
	undoneCount := 0
	switch e.OutputMethod {
	case "push":
		undoneCount = 1
	case "concat":
		values := jsonval.AsList(e.Value)
		undoneCount = len(values)
	}
	if undoneCount > 0 && undoneCount < len(list) {
		state, _ = jsonval.SetAt(state, e.Path, list[:len(list)-undoneCount:len(list)-undoneCount])
		return state
	}
	return removeValue(state, e.Path, shouldPrune)
}

// removeValue is a State without the value at a path. With shouldPrune, it also removes the objects above it that are
// then empty.
func removeValue(state any, p jsonval.Path, shouldPrune bool) any {
	for ; len(p) > 0; p = p[:len(p)-1] {
		shrunk, ok := jsonval.RemoveAt(state, p)
		if !ok {
			return state
		}
		state = shrunk
		parent, isObject := jsonval.ValueAt(state, p[:len(p)-1])
		if !shouldPrune || !isObject || len(jsonval.AsObject(parent)) > 0 || len(p) == 1 {
			return state
		}
	}
	return state
}
