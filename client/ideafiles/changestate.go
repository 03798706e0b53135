package ideafiles

import (
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// This file changes the States of a fork's Idea.

// stateOf returns an instance's State, and the message that contains it. An Idea of a chain has one for each instance.
func (e *editor) stateOf(token string) (message jsonval.Object, state any) {
	context := jsonval.AsList(e.idea["context"])
	for n := len(context) - 1; n >= 0; n-- {
		m, ok := ideafile.ReadMessage(context[n], "", new(diag.Problems))
		if ok && m.PayloadKind == ideafile.TypeState && m.InstanceToken == token {
			message = WithPayload(m, m.Payload)
			context[n] = message
			return message, m.Payload
		}
	}
	message = jsonval.Object{"type": ideafile.TypeState, ideafile.TypeState: jsonval.Object{}}
	if token != "" {
		message["_instance"] = token
	}
	e.idea["context"] = append(context, message)
	return message, message[ideafile.TypeState]
}

// change replaces the State of an instance and reopens it.
func (e *editor) change(token string, message jsonval.Object, state any) {
	message[ideafile.TypeState] = state
	e.markReopened(token)
}

func (e *editor) mergeStates() error {
	if e.StateFile == "" {
		return nil
	}
	v, err := ReadValue(e.StateFile)
	if err != nil {
		return err
	}
	states, ok := v.(jsonval.Object)
	owners := ideafile.SplitContextByInstance(e.idea["context"])
	if owners.HasInstance("") {
		states = jsonval.Object{"": v}
	}
	for word, v := range jsonval.Sorted(states) {
		_, isState := v.(jsonval.Object)
		token, known := owners.FindInstanceToken(word)
		switch {
		case !isState:
			return invalid("read %s: %s: State is an object, not %s", e.StateFile, word, jsonval.TypeOf(v))
		case !known:
			return invalid("read %s: there is no instance %s; there are %s", e.StateFile, word,
				strings.Join(owners.InstanceTokens, ", "))
		}
		m, old := e.stateOf(token)
		e.change(token, m, jsonval.DeepMerge(old, v))
	}
	if !ok {
		return invalid("read %s: want an object, not %s", e.StateFile, jsonval.TypeOf(v))
	}
	return nil
}

func (e *editor) unsetAll() error {
	for _, text := range e.Unset {
		token, path, err := e.place("unset", text)
		if err != nil {
			return err
		}
		m, state := e.stateOf(token)
		rest, ok := jsonval.RemoveAt(state, path)
		if !ok || len(path) == 0 {
			return invalid("unset %s: there is no value at this path", text)
		}
		e.change(token, m, rest)
		turn.ForgetWritesTo(e.idea, token, path)
	}
	return nil
}

func (e *editor) setAll() error {
	for _, text := range e.Set {
		where, what, ok := strings.Cut(text, "=")
		if !ok {
			return invalid("set %s: want TOKEN:path=JSON", text)
		}
		token, path, err := e.place("set", where)
		if err != nil {
			return err
		}
		value, err := jsonval.Decode([]byte(what))
		if err != nil {
			return invalid(`set %s: %s is not JSON (a text needs quotes, "like this"): %s`, where, what,
				DecodeCause(err))
		}
		m, state := e.stateOf(token)
		next, ok := jsonval.SetAt(state, path, value)
		if _, isObject := next.(jsonval.Object); !ok || !isObject {
			return invalid("set %s: State and each value above this path must be objects", where)
		}
		e.change(token, m, next)
	}
	return nil
}
