package main

import (
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// This file holds how a fork changes the States that its Idea has.

// stateOf gives an instance's State, and the message whose payload it is. An Idea of a chain has one for each instance.
func (c *changes) stateOf(token string) (message map[string]any, state any) {
	context, _ := c.idea["context"].([]any)
	for n := len(context) - 1; n >= 0; n-- {
		m, ok := ideafile.ReadMessage(context[n], "", new(diag.Problems))
		if ok && m.Kind == ideafile.TypeState && m.Instance == token {
			message = withPayload(m, m.Payload)
			context[n] = message
			return message, m.Payload
		}
	}
	message = map[string]any{"type": ideafile.TypeState, ideafile.TypeState: map[string]any{}}
	if token != "" {
		message["_instance"] = token
	}
	c.idea["context"] = append(context, message)
	return message, message[ideafile.TypeState]
}

// change puts another State in place of an instance's, which has not ended any more.
func (c *changes) change(token string, message map[string]any, state any) {
	message[ideafile.TypeState] = state
	c.reopens(token)
}

func (c *changes) mergeStates() error {
	if c.state == "" {
		return nil
	}
	v, err := readValue(c.state)
	if err != nil {
		return err
	}
	states, ok := v.(map[string]any)
	owners := ideafile.SplitContext(c.idea["context"])
	if owners.HasInstance("") {
		states = map[string]any{"": v}
	}
	for _, token := range sortedKeys(states) {
		_, isState := states[token].(map[string]any)
		switch {
		case !isState:
			return misuse("read %s: %s: State is an object, not %s", c.state, token, jsonval.TypeOf(states[token]))
		case !owners.HasInstance(token):
			return misuse("read %s: there is no instance %s; there are %s", c.state, token, strings.Join(owners.Tokens, ", "))
		}
		m, old := c.stateOf(token)
		c.change(token, m, jsonval.Merge(old, states[token]))
	}
	if !ok {
		return misuse("read %s: want an object, not %s", c.state, jsonval.TypeOf(v))
	}
	return nil
}

func (c *changes) unsetAll() error {
	for _, text := range c.unset {
		token, path, err := c.place("unset", text)
		if err != nil {
			return err
		}
		m, state := c.stateOf(token)
		rest, ok := jsonval.Remove(state, path)
		if !ok || len(path) == 0 {
			return misuse("unset %s: nothing stands there", text)
		}
		c.change(token, m, rest)
		turn.ForgetWrites(c.idea, token, path)
	}
	return nil
}

func (c *changes) setAll() error {
	for _, text := range c.set {
		where, what, ok := strings.Cut(text, "=")
		if !ok {
			return misuse("set %s: want TOKEN:path=JSON", text)
		}
		token, path, err := c.place("set", where)
		if err != nil {
			return err
		}
		value, err := jsonval.Decode([]byte(what))
		if err != nil {
			return misuse(`set %s: %s is no JSON (a text is written "so"): %s`, where, what, decodeCause(err))
		}
		m, state := c.stateOf(token)
		next, ok := jsonval.Put(state, path, value)
		if _, isObject := next.(map[string]any); !ok || !isObject {
			return misuse("set %s: something other than an object stands above it", where)
		}
		c.change(token, m, next)
	}
	return nil
}
