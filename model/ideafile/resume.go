package ideafile

import "processidea/model/jsonval"

// having is the Idea with other messages in its context.
func (i *Idea) Having(messages []Message) *Idea {
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
