package ideafile

import "processidea/model/diag"

// Owners is an Idea's context by whom its Messages belong to.
type ContextByOwner struct {
	// Tokens lists the instances in the order in which the context first names them; [""] where it names none.
	Tokens []string
	// Shared are the Messages that every instance sees, Own those of one.
	Shared []Message
	Own    map[string][]Message
}

// OwnersOf reads the context of an Idea. What is no Message is left out.
func SplitContext(context any) ContextByOwner {
	o := ContextByOwner{Own: map[string][]Message{}}
	list, _ := context.([]any)
	for _, raw := range list {
		m, ok := ReadMessage(raw, "", new(diag.Problems))
		switch {
		case !ok:
			continue
		case m.Instance == "":
			o.Shared = append(o.Shared, m)
			continue
		}
		if _, known := o.Own[m.Instance]; !known {
			o.Tokens = append(o.Tokens, m.Instance)
		}
		o.Own[m.Instance] = append(o.Own[m.Instance], m)
	}
	if o.Tokens == nil {
		o.Tokens = []string{""}
	}
	return o
}

// Has says whether the context knows an instance.
func (o ContextByOwner) Has(token string) bool {
	_, ok := o.Own[token]
	return ok || token == "" && len(o.Own) == 0
}

// View is what an instance sees: its own Messages laid over the shared ones.
func (o ContextByOwner) View(token string) View {
	shared := o.Shared[:len(o.Shared):len(o.Shared)]
	return ViewOf(append(shared, o.Own[token]...), token)
}

// Everybodys is what the shared Messages say alone.
func (o ContextByOwner) SharedView() View { return ViewOf(o.Shared, "") }

// Alone is what an instance's own Messages say, without the shared ones.
func (o ContextByOwner) OwnView(token string) View { return ViewOf(o.Own[token], token) }

// viewsOf is ViewOf for many instances: each is shown the shared messages and its own alone, as ten thousand times ten
// thousand would take too long.
func ViewsOf(context []Message, tokens []string) map[string]View {
	owned := map[string][]Message{}
	for _, m := range context {
		owned[m.Instance] = append(owned[m.Instance], m)
	}
	views := make(map[string]View, len(tokens))
	shared := owned[""]
	for _, token := range tokens {
		seen := shared
		if token != "" {
			seen = append(shared[:len(shared):len(shared)], owned[token]...)
		}
		views[token] = ViewOf(seen, token)
	}
	return views
}
