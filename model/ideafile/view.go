package ideafile

import (
	"maps"

	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
)

// InstanceView is one instance's view of a context: payloads and schemas by kind.
type InstanceView struct {
	PayloadByKind jsonval.Object
	SchemaByKind  jsonval.Object
}

// InstanceViewOf returns an instance's view. In each payload, the top-level keys of its own Messages replace those of
// the shared ones.
func InstanceViewOf(context []Message, token string) InstanceView {
	view := OwnInstanceView(context, "")
	if token != "" {
		view.overlay(OwnInstanceView(context, token))
	}
	return view
}

func (view *InstanceView) overlay(ownView InstanceView) {
	for kind, payload := range jsonval.Sorted(ownView.PayloadByKind) {
		view.PayloadByKind[kind] = jsonval.OverlayObject(view.PayloadByKind[kind], payload)
	}
	maps.Copy(view.SchemaByKind, ownView.SchemaByKind)
}

// OwnInstanceView returns the view of one owner's Messages by themselves; "" is the owner of the shared ones.
// Messages of one kind merge as JSON merge patches, in order, and the last schema counts.
func OwnInstanceView(context []Message, token string) InstanceView {
	v := InstanceView{PayloadByKind: jsonval.Object{}, SchemaByKind: jsonval.Object{}}
	for _, m := range context {
		if m.InstanceToken != token || m.PayloadKind == "" {
			continue
		}
		v.PayloadByKind[m.PayloadKind] = jsonval.DeepMerge(v.PayloadByKind[m.PayloadKind], m.Payload)
		if m.PayloadSchema != nil {
			v.SchemaByKind[m.PayloadKind] = m.PayloadSchema
		}
	}
	return v
}

// GroupMessagesByInstance groups Messages by the instance that they are for; shared ones are under "".
func GroupMessagesByInstance(context []Message) map[string][]Message {
	messagesByToken := map[string][]Message{}
	for start := 0; start < len(context); {
		token, end := context[start].InstanceToken, start+1
		for end < len(context) && context[end].InstanceToken == token {
			end++
		}
		// The first run is not copied: in a file of many instances, an instance has no other.
		if messageRun := context[start:end:end]; messagesByToken[token] == nil {
			messagesByToken[token] = messageRun
		} else {
			messagesByToken[token] = append(messagesByToken[token], messageRun...)
		}
		start = end
	}
	return messagesByToken
}

// OwnInstanceInput returns the input that only one instance has; for the anonymous instance, all input. It is nil if
// there is none.
func OwnInstanceInput(context []Message, token string) any {
	return OwnInstanceView(context, token).PayloadByKind[TypeInput]
}

// instanceTokens lists the instances in the order in which a context first names them; [""] if it names none.
func instanceTokens(context []Message) (tokens []string) {
	seen := map[string]bool{"": true}
	for _, m := range context {
		if !seen[m.InstanceToken] {
			seen[m.InstanceToken] = true
			tokens = append(tokens, m.InstanceToken)
		}
	}
	if tokens == nil {
		return []string{""}
	}
	return tokens
}

// ContextByInstance is an Idea's context, split into the Messages that all instances see and those of one instance.
type ContextByInstance struct {
	// InstanceTokens lists the instances in the order in which the context first names them; [""] if it names none.
	InstanceTokens []string
	// SharedMessages are the Messages that every instance sees, MessagesByInstance those for one instance, by token.
	SharedMessages     []Message
	MessagesByInstance map[string][]Message
}

// SplitContextByInstance reads the context of an Idea. An entry that is no Message is left out.
func SplitContextByInstance(context any) ContextByInstance {
	var messages []Message
	for _, raw := range jsonval.AsList(context) {
		if m, ok := ParseMessage(raw); ok {
			messages = append(messages, m)
		}
	}
	return SplitMessagesByInstance(messages)
}

// SplitMessagesByInstance is SplitContextByInstance for Messages that were read already.
func SplitMessagesByInstance(messages []Message) ContextByInstance {
	c := ContextByInstance{InstanceTokens: instanceTokens(messages),
		MessagesByInstance: GroupMessagesByInstance(messages)}
	c.SharedMessages = c.MessagesByInstance[""]
	delete(c.MessagesByInstance, "")
	return c
}

// HasInstance reports whether the context has Messages of an instance. A context that names no instance has the
// anonymous one.
func (c ContextByInstance) HasInstance(token string) bool {
	_, ok := c.MessagesByInstance[token]
	return ok || (token == "" && len(c.MessagesByInstance) == 0)
}

// FindInstanceToken returns the token of the instance that a word names, in either spelling.
func (c ContextByInstance) FindInstanceToken(typedToken string) (string, bool) {
	if typedToken == "" || c.HasInstance(typedToken) {
		return typedToken, c.HasInstance(typedToken)
	}
	matchingToken, ok := spelling.FindInstanceToken(c.InstanceTokens, typedToken)
	return matchingToken, ok && matchingToken != ""
}

// InstanceView returns an instance's view: its own Messages over the shared ones.
func (c ContextByInstance) InstanceView(token string) InstanceView {
	view := OwnInstanceView(c.SharedMessages, "")
	if token != "" {
		view.overlay(OwnInstanceView(c.MessagesByInstance[token], token))
	}
	return view
}
