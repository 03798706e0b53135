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

// HasInstance says whether the context knows an instance.
func (c ContextByOwner) HasInstance(token string) bool {
	_, ok := c.Own[token]
	return ok || token == "" && len(c.Own) == 0
}

// View is what an instance sees: its own Messages laid over the shared ones.
func (c ContextByOwner) View(token string) View {
	shared := c.Shared[:len(c.Shared):len(c.Shared)]
	return ViewOf(append(shared, c.Own[token]...), token)
}

// Everybodys is what the shared Messages say alone.
func (c ContextByOwner) SharedView() View { return ViewOf(c.Shared, "") }

// Alone is what an instance's own Messages say, without the shared ones.
func (c ContextByOwner) OwnView(token string) View { return ViewOf(c.Own[token], token) }

// viewsOf is ViewOf for many instances: each is shown the shared messages and its own alone, as ten thousand times ten
// thousand would take too long.
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
