package ideafile

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

// With is the limits with others in their place, where they are given (0 keeps one).
func (l Limits) With(other Limits) Limits {
	for _, f := range []struct {
		to *int
		n  int
	}{{&l.Requests, other.Requests}, {&l.Tokens, other.Tokens}, {&l.Calls, other.Calls}} {
		if f.n > 0 {
			*f.to = f.n
		}
	}
	if other.Duration > 0 {
		l.Duration = other.Duration
	}
	return l
}
