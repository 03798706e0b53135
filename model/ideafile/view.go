package ideafile

import (
	"maps"

	"processidea/model/diag"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
)

// InstanceView is what one instance sees of a context: payloads and schemas by kind.
type InstanceView struct {
	PayloadByKind map[string]any
	SchemaByKind  map[string]any
}

// InstanceViewOf returns what an instance sees: of each payload, the top-level keys of its own Messages replace those
// of the shared ones.
func InstanceViewOf(context []Message, token string) InstanceView {
	shared, own := InstanceMessagesView(context, ""), InstanceView{}
	if token == "" {
		return shared
	}
	own = InstanceMessagesView(context, token)
	for kind, payload := range jsonval.Sorted(own.PayloadByKind) {
		shared.PayloadByKind[kind] = jsonval.OverlayObject(shared.PayloadByKind[kind], payload)
	}
	maps.Copy(shared.SchemaByKind, own.SchemaByKind)
	return shared
}

// InstanceMessagesView returns the view of one owner's Messages by themselves; "" is the owner of the shared ones.
// Messages of one kind merge as JSON merge patches, in order, and the last schema counts.
func InstanceMessagesView(context []Message, owner string) InstanceView {
	v := InstanceView{PayloadByKind: map[string]any{}, SchemaByKind: map[string]any{}}
	for _, m := range context {
		if m.InstanceToken != owner || m.PayloadKind == "" {
			continue
		}
		if merged, ok := v.PayloadByKind[m.PayloadKind]; ok {
			v.PayloadByKind[m.PayloadKind] = jsonval.DeepMerge(merged, m.Payload)
		} else {
			v.PayloadByKind[m.PayloadKind] = m.Payload
		}
		if m.PayloadSchema != nil {
			v.SchemaByKind[m.PayloadKind] = m.PayloadSchema
		}
	}
	return v
}

// InstanceViewsByToken is InstanceViewOf for many instances. It sorts the Messages by owner first, so that it stays
// linear for ten thousand instances.
func InstanceViewsByToken(context []Message, tokens []string) map[string]InstanceView {
	byOwner := GroupMessagesByInstance(context)
	views := make(map[string]InstanceView, len(tokens))
	shared := byOwner[""]
	for _, token := range tokens {
		seen := shared
		if token != "" {
			seen = append(shared[:len(shared):len(shared)], byOwner[token]...)
		}
		views[token] = InstanceViewOf(seen, token)
	}
	return views
}

// GroupMessagesByInstance sorts Messages by the instance that they are for; those for all stand under "".
func GroupMessagesByInstance(context []Message) map[string][]Message {
	byOwner := map[string][]Message{}
	for _, m := range context {
		byOwner[m.InstanceToken] = append(byOwner[m.InstanceToken], m)
	}
	return byOwner
}

// InstanceInput returns the input that is one instance's own; of the anonymous one, all of it. It is nil if there is
// none.
func InstanceInput(context []Message, token string) any {
	return InstanceMessagesView(context, token).PayloadByKind[TypeInput]
}

// ContextByInstance is an Idea's context, split into the Messages that all instances see and those of one instance.
type ContextByInstance struct {
	// InstanceTokens lists the instances in the order in which the context first names them; [""] if it names none.
	InstanceTokens []string
	// SharedMessages are the Messages that every instance sees, Own those of one instance, by token.
	SharedMessages     []Message
	MessagesByInstance map[string][]Message
}

// SplitContextByInstance reads the context of an Idea. An entry that is no Message is left out.
func SplitContextByInstance(context any) ContextByInstance {
	c := ContextByInstance{MessagesByInstance: map[string][]Message{}}
	for _, raw := range jsonval.AsList(context) {
		m, ok := ReadMessage(raw, "", new(diag.Problems))
		switch {
		case !ok:
			continue
		case m.InstanceToken == "":
			c.SharedMessages = append(c.SharedMessages, m)
			continue
		}
		if _, known := c.MessagesByInstance[m.InstanceToken]; !known {
			c.InstanceTokens = append(c.InstanceTokens, m.InstanceToken)
		}
		c.MessagesByInstance[m.InstanceToken] = append(c.MessagesByInstance[m.InstanceToken], m)
	}
	if c.InstanceTokens == nil {
		c.InstanceTokens = []string{""}
	}
	return c
}

// HasInstance reports whether the context has Messages of an instance. One that names none has the anonymous instance.
func (c ContextByInstance) HasInstance(token string) bool {
	_, ok := c.MessagesByInstance[token]
	return ok || (token == "" && len(c.MessagesByInstance) == 0)
}

// FindInstanceToken returns the token of the instance that a word names, in either spelling.
func (c ContextByInstance) FindInstanceToken(word string) (string, bool) {
	if word == "" || c.HasInstance(word) {
		return word, c.HasInstance(word)
	}
	found, ok := spelling.FindToken(c.InstanceTokens, word)
	return found, ok && found != ""
}

// InstanceView returns what an instance sees: its own Messages over the shared ones.
func (c ContextByInstance) InstanceView(token string) InstanceView {
	shared := c.SharedMessages[:len(c.SharedMessages):len(c.SharedMessages)]
	return InstanceViewOf(append(shared, c.MessagesByInstance[token]...), token)
}

// SharedMessagesView returns what the shared Messages say by themselves.
func (c ContextByInstance) SharedMessagesView() InstanceView {
	return InstanceViewOf(c.SharedMessages, "")
}

// InstanceMessagesView returns what an instance's own Messages say by themselves.
func (c ContextByInstance) InstanceMessagesView(token string) InstanceView {
	return InstanceViewOf(c.MessagesByInstance[token], token)
}
