package ideafile

import (
	"processidea/model/diag"
	"processidea/model/jsonval"
)

// View is what one instance sees of a context: payloads and schemas by kind.
type View struct {
	Payload map[string]any
	Schema  map[string]any
}

// ViewOf returns what an instance sees: of each payload, the top-level keys of its own Messages replace those of the shared ones.
func ViewOf(context []Message, token string) View {
	shared, own := MergeMessages(context, ""), View{}
	if token == "" {
		return shared
	}
	own = MergeMessages(context, token)
	for _, kind := range jsonval.SortedKeys(own.Payload) {
		shared.Payload[kind] = jsonval.Overlay(shared.Payload[kind], own.Payload[kind])
	}
	for _, kind := range jsonval.SortedKeys(own.Schema) {
		shared.Schema[kind] = own.Schema[kind]
	}
	return shared
}

// MergeMessages returns the view of one owner's Messages by themselves; "" is the owner of the shared ones. Messages of one kind merge as
// JSON merge patches, in order, and the last schema counts.
func MergeMessages(context []Message, owner string) View {
	v := View{Payload: map[string]any{}, Schema: map[string]any{}}
	for _, m := range context {
		if m.Instance != owner || m.Kind == "" {
			continue
		}
		if merged, ok := v.Payload[m.Kind]; ok {
			v.Payload[m.Kind] = jsonval.Merge(merged, m.Payload)
		} else {
			v.Payload[m.Kind] = m.Payload
		}
		if m.Schema != nil {
			v.Schema[m.Kind] = m.Schema
		}
	}
	return v
}

// ViewsOf is ViewOf for many instances. It sorts the Messages by owner first, so that it stays linear for ten thousand instances.
func ViewsOf(context []Message, tokens []string) map[string]View {
	byOwner := map[string][]Message{}
	for _, m := range context {
		byOwner[m.Instance] = append(byOwner[m.Instance], m)
	}
	views := make(map[string]View, len(tokens))
	shared := byOwner[""]
	for _, token := range tokens {
		seen := shared
		if token != "" {
			seen = append(shared[:len(shared):len(shared)], byOwner[token]...)
		}
		views[token] = ViewOf(seen, token)
	}
	return views
}

// ContextByOwner is an Idea's context, split into the Messages that all instances see and those of one instance.
type ContextByOwner struct {
	// Tokens lists the instances in the order in which the context first names them; [""] if it names none.
	Tokens []string
	// Shared are the Messages that every instance sees, Own those of one instance, by token.
	Shared []Message
	Own    map[string][]Message
}

// SplitContext reads the context of an Idea. An entry that is no Message is left out.
func SplitContext(context any) ContextByOwner {
	c := ContextByOwner{Own: map[string][]Message{}}
	list, _ := context.([]any)
	for _, raw := range list {
		m, ok := ReadMessage(raw, "", new(diag.Problems))
		switch {
		case !ok:
			continue
		case m.Instance == "":
			c.Shared = append(c.Shared, m)
			continue
		}
		if _, known := c.Own[m.Instance]; !known {
			c.Tokens = append(c.Tokens, m.Instance)
		}
		c.Own[m.Instance] = append(c.Own[m.Instance], m)
	}
	if c.Tokens == nil {
		c.Tokens = []string{""}
	}
	return c
}

// HasInstance reports whether the context has Messages of an instance. One that names none has the anonymous instance.
func (c ContextByOwner) HasInstance(token string) bool {
	_, ok := c.Own[token]
	return ok || (token == "" && len(c.Own) == 0)
}

// View returns what an instance sees: its own Messages over the shared ones.
func (c ContextByOwner) View(token string) View {
	shared := c.Shared[:len(c.Shared):len(c.Shared)]
	return ViewOf(append(shared, c.Own[token]...), token)
}

// SharedView returns what the shared Messages say by themselves.
func (c ContextByOwner) SharedView() View { return ViewOf(c.Shared, "") }

// OwnView returns what an instance's own Messages say by themselves.
func (c ContextByOwner) OwnView(token string) View { return ViewOf(c.Own[token], token) }
