package chain

import (
	"context"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// A node represents a value in a manifest: {"v": value} the value itself, {"p": digest} a part stored under its digest,
// {"each": {key: node}} an object, {"runs": [node]} a list of Messages, run by run.
const (
	nodeValue = "v"
	nodePart  = "p"
	nodeEach  = "each"
	nodeRuns  = "runs"
)

const (
	// sharedInline is the size in bytes up to which stands in the manifest what other Ideas, and other processes of the
	// same file, have too; ownInline that of what this Idea alone has.
	sharedInline = 256
	ownInline    = 8 << 10
	// runBytes is the size at which a run of Messages is ended, so that one more does not make all of it new.
	runBytes = 64 << 10
)

// leaf stores a value as a part of its own if it is over a size.
func (s *Store) leaf(ctx context.Context, v any, inline int) (any, error) {
	data := jsonval.Encode(v)
	if len(data) <= inline {
		return map[string]any{nodeValue: v}, nil
	}
	digest, err := s.values.Put(ctx, data)
	return map[string]any{nodePart: digest}, err
}

// wholeBody makes the parts of an Idea that is stored by itself.
func (s *Store) wholeBody(ctx context.Context, body map[string]any) (any, error) {
	return members(body, func(k string, v any) (any, error) {
		object, isObject := v.(map[string]any)
		messages, isContext := v.([]any)
		switch {
		case k == "context" && isContext:
			return s.runs(ctx, messages)
		case (k == "schema" || k == "delegates") && isObject:
			return members(object, func(_ string, v any) (any, error) { return s.leaf(ctx, v, sharedInline) })
		case k == "solution":
			return s.leaf(ctx, v, ownInline)
		}
		return s.leaf(ctx, v, sharedInline)
	})
}

// members makes the parts of an object, member by member.
func members(m map[string]any, part func(k string, v any) (any, error)) (any, error) {
	each := map[string]any{}
	for k, v := range m {
		n, err := part(k, v)
		if err != nil {
			return nil, err
		}
		each[k] = n
	}
	return map[string]any{nodeEach: each}, nil
}

// runs splits a context into runs of Messages that stay as they are and of Messages that change from Idea to Idea.
func (s *Store) runs(ctx context.Context, messages []any) (any, error) {
	runs, from, size := []any{}, 0, 0
	for i, m := range messages {
		size += len(jsonval.Encode(m))
		if i+1 < len(messages) && size < runBytes && changing(m) == changing(messages[i+1]) {
			continue
		}
		inline := sharedInline
		if changing(m) {
			inline = ownInline
		}
		n, err := s.leaf(ctx, messages[from:i+1], inline)
		if err != nil {
			return nil, err
		}
		runs, from, size = append(runs, n), i+1, 0
	}
	return map[string]any{nodeRuns: runs}, nil
}

// changing reports whether a Message is one that each Idea states anew.
func changing(message any) bool {
	m := jsonval.AsObject(message)
	switch m["type"] {
	case ideafile.TypeState, ideafile.TypePlan, ideafile.TypeError:
		return true
	}
	return m["kind"] == ideafile.TypeState
}
