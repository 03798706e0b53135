package ideafiles

import (
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// This file changes the States of a fork's Idea.

// findOrAddState returns an instance's State, and the message that contains it. An Idea of a chain has one for each
// instance.
func (e *ideaEditor) findOrAddState(instanceToken string) (message jsonval.Object, state any) {
	context := jsonval.AsList(e.idea["context"])
	for n := len(context) - 1; n >= 0; n-- {
		m, ok := ideafile.ReadMessage(context[n], "", new(diag.Problems))
		if ok && m.PayloadKind == ideafile.TypeState && m.InstanceToken == instanceToken {
			message = WithPayload(m, m.Payload)
			context[n] = message
			return message, m.Payload
		}
	}
	message = jsonval.Object{"type": ideafile.TypeState, ideafile.TypeState: jsonval.Object{}}
	if instanceToken != "" {
		message["_instance"] = instanceToken
	}
	e.idea["context"] = append(context, message)
	return message, message[ideafile.TypeState]
}

// setState replaces the State of an instance and reopens it.
func (e *ideaEditor) setState(instanceToken string, message jsonval.Object, state any) {
	message[ideafile.TypeState] = state
	e.markReopened(instanceToken)
}

func (e *ideaEditor) mergeStates() error {
	if e.StateFile == "" {
		return nil
	}
	v, err := ReadJSONOrYAMLFile(e.StateFile)
	if err != nil {
		return err
	}
	states, ok := v.(jsonval.Object)
	splitContext := ideafile.SplitContextByInstance(e.idea["context"])
	if splitContext.HasInstance("") {
		states = jsonval.Object{"": v}
	}
	for typedToken, v := range jsonval.Sorted(states) {
		_, isState := v.(jsonval.Object)
		token, known := splitContext.FindInstanceToken(typedToken)
		switch {
		case !isState:
			return invalidErrorf("read %s: %s: State is an object, not %s", e.StateFile, typedToken, jsonval.TypeOf(v))
		case !known:
			return invalidErrorf("read %s: there is no instance %s; there are %s", e.StateFile, typedToken,
				strings.Join(splitContext.InstanceTokens, ", "))
		}
		m, oldState := e.findOrAddState(token)
		e.setState(token, m, jsonval.DeepMerge(oldState, v))
	}
	if !ok {
		return invalidErrorf("read %s: want an object, not %s", e.StateFile, jsonval.TypeOf(v))
	}
	return nil
}

func (e *ideaEditor) unsetValues() error {
	for _, text := range e.ValuesToUnset {
		token, path, err := e.readStatePlace("unset", text)
		if err != nil {
			return err
		}
		m, state := e.findOrAddState(token)
		newState, ok := jsonval.RemoveAt(state, path)
		if !ok || len(path) == 0 {
			return invalidErrorf("unset %s: there is no value at this path", text)
		}
		e.setState(token, m, newState)
		turn.DropOutcomesWritingTo(e.idea, token, path)
	}
	return nil
}

func (e *ideaEditor) setValues() error {
	for _, text := range e.ValuesToSet {
		placeText, valueText, ok := strings.Cut(text, "=")
		if !ok {
			return invalidErrorf("set %s: want TOKEN:path=JSON", text)
		}
		token, path, err := e.readStatePlace("set", placeText)
		if err != nil {
			return err
		}
		value, err := jsonval.Decode([]byte(valueText))
		if err != nil {
			return invalidErrorf(`set %s: %s is not JSON (a text needs quotes, "like this"): %s`, placeText, valueText,
				DecodeCause(err))
		}
		m, state := e.findOrAddState(token)
		newState, ok := jsonval.SetAt(state, path, value)
		if _, isObject := newState.(jsonval.Object); !ok || !isObject {
			return invalidErrorf("set %s: State and each value above this path must be objects", placeText)
		}
		e.setState(token, m, newState)
	}
	return nil
}

// WithPayload returns a message with another payload, under the key of the message's type regardless of its original
// form.
func WithPayload(m ideafile.Message, payload any) map[string]any {
	keptKeys := []string{"type", "kind", "_instance", "schema"}
	if m.PayloadKey() != "" {
		keptKeys = append(keptKeys, "title", "description", "_status", "_error")
	}
	return jsonval.WithKey(jsonval.WithOnlyKeys(m.Source, keptKeys...), m.Type, payload)
}
