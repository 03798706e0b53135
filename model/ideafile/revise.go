package ideafile

import "processidea/model/jsonval"

// With is the Idea with more messages, which were checked before.
func (i *Idea) With(context []any) *Idea {
	messages, err := ReadAll(context)
	if err != nil || len(messages) == 0 {
		return i
	}
	return i.WithMessages(messages)
}

// withMessages is the Idea with more messages.
func (i *Idea) WithMessages(messages []Message) *Idea {
	next := *i
	next.Context = append(i.Context[:len(i.Context):len(i.Context)], messages...)
	old, _ := i.Source["context"].([]any)
	context := append([]any(nil), old...)
	for _, m := range messages {
		context = append(context, m.Source)
	}
	next.Source = jsonval.WithoutKey(i.Source, "context")
	next.Source["context"] = context
	return &next
}
