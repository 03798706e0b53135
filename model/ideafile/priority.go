package ideafile

import (
	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Priority decides whose tasks Temporal dispatches first when more wait than workers take: `config.priority` and
// `config.fairness`. Parts, instances, delegates and activities inherit it from the process.
type Priority struct {
	// Level is from 1, which comes first, to 5; 0: Temporal's own, 3.
	Level int
	// FairnessKey groups processes of a level, such as those of a tenant: each key gets a share of the dispatched
	// tasks. The empty key is that of all processes that name none.
	FairnessKey string
	// FairnessWeight is the key's share relative to others; 0: 1.
	FairnessWeight float64
}

// Limits of Temporal: see its documentation, "Task Queue Priority and Fairness".
const (
	maxPriorityLevel     = 5
	maxFairnessKeyLength = 64 // bytes
	minFairnessWeight    = 0.001
	maxFairnessWeight    = 1000
)

func (p *Priority) readFairness(m jsonval.Object, path string, ps *diag.Problems) {
	if _, hasKey := m["key"]; m != nil && !hasKey {
		ps.Add(path, `it names no key: want {"key": "tenant-a", "weight": 2}; all processes without one share theirs`)
	}
	for k, value := range jsonval.Sorted(m) {
		keyPath := jsonval.JSONPathWithKey(path, k)
		switch k {
		case "key":
			p.FairnessKey = jsonval.AsText(value)
			if n := len(p.FairnessKey); n == 0 || n > maxFairnessKeyLength {
				ps.Add(keyPath, `want a name of 1 to %d bytes, such as "tenant-a", not %s`, maxFairnessKeyLength,
					jsonval.QuoteForError(value))
			}
		case "weight":
			w, err := jsonval.ToFloat(value)
			if err != nil || w < minFairnessWeight || w > maxFairnessWeight {
				ps.Add(keyPath, "want a number from %v to %d, not %s", minFairnessWeight, maxFairnessWeight,
					jsonval.QuoteForError(value))
				continue
			}
			p.FairnessWeight = w
		default:
			ps.Add(keyPath, "unknown key %q; fairness has key and weight", k)
		}
	}
}
