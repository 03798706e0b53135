package ideafile

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// WithRawMessages is the Idea with more messages, which were checked before.
func (i *Idea) WithRawMessages(context []any) *Idea {
	messages, err := ReadMessages(context)
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

// having is the Idea with other messages in its context.
func (i *Idea) WithContextReplaced(messages []Message) *Idea {
	next := *i
	next.Context = messages
	context := make([]any, len(messages))
	for n, m := range messages {
		context[n] = m.Source
	}
	next.Source = jsonval.WithoutKey(i.Source, "context")
	next.Source["context"] = context
	return &next
}

// readAll reads messages that come from people.
func ReadMessages(context []any) ([]Message, error) {
	var ps diag.Problems
	var list []Message
	for n, raw := range context {
		if m, ok := ReadMessage(raw, fmt.Sprintf("$.context[%d]", n), &ps); ok {
			list = append(list, m)
		}
	}
	if errs := ps.Errors(); len(errs) > 0 {
		return nil, errs
	}
	return list, nil
}
