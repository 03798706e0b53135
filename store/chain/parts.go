package chain

import (
	"context"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// A node represents a value in a manifest: {"v": value} the value itself, {"p": digest} a part stored under its digest,
// {"each": {key: node}} an object, {"runs": [node]} a list of Messages, run by run.
const (
	nodeValueKey       = "v"
	nodeDigestKey      = "p"
	nodeObjectKey      = "each"
	nodeMessageRunsKey = "runs"
)

const (
	// Values up to these sizes in bytes stay in the manifest. maxSharedInlineBytes is for values that other Ideas, and
	// other processes of the same file, have too; maxOwnInlineBytes for values that only this Idea has.
	maxSharedInlineBytes = 256
	maxOwnInlineBytes    = 8 << 10
	// maxMessageRunBytes is the size at which a run of Messages ends, so that one more Message does not rewrite all of
	// it.
	maxMessageRunBytes = 64 << 10
)

// storeValue stores a value larger than inline as a part of its own, and returns its node.
func (s *Store) storeValue(ctx context.Context, v any, maxInlineBytes int) (any, error) {
	data := jsonval.Encode(v)
	if len(data) <= maxInlineBytes {
		return jsonval.Object{nodeValueKey: v}, nil
	}
	digest, err := s.blobStore.Put(ctx, data)
	return jsonval.Object{nodeDigestKey: digest}, err
}

// storeFullBody stores the parts of an Idea that is stored whole.
func (s *Store) storeFullBody(ctx context.Context, body jsonval.Object) (any, error) {
	return storeMembers(body, func(k string, v any) (any, error) {
		object, isObject := v.(jsonval.Object)
		messages, isContext := v.([]any)
		switch {
		case k == "context" && isContext:
			return s.storeMessageRuns(ctx, messages)
		case (k == "schema" || k == "delegates") && isObject:
			return storeMembers(object, func(_ string, v any) (any, error) {
				return s.storeValue(ctx, v, maxSharedInlineBytes)
			})
		case k == "solution":
			return s.storeValue(ctx, v, maxOwnInlineBytes)
		}
		return s.storeValue(ctx, v, maxSharedInlineBytes)
	})
}

// storeMembers stores the parts of an object, member by member.
func storeMembers(m jsonval.Object, storeMember func(k string, v any) (any, error)) (any, error) {
	nodes := jsonval.Object{}
	for k, v := range m {
		n, err := storeMember(k, v)
		if err != nil {
			return nil, err
		}
		nodes[k] = n
	}
	return jsonval.Object{nodeObjectKey: nodes}, nil
}

// storeMessageRuns splits a context into runs of Messages that stay as they are and of Messages that change from Idea
// to Idea.
func (s *Store) storeMessageRuns(ctx context.Context, messages []any) (any, error) {
	messageRuns, start, runBytes := []any{}, 0, 0
	for i, m := range messages {
		runBytes += len(jsonval.Encode(m))
		if i+1 < len(messages) && runBytes < maxMessageRunBytes &&
			changesEachIdea(m) == changesEachIdea(messages[i+1]) {
			continue
		}
		maxInlineBytes := maxSharedInlineBytes
		if changesEachIdea(m) {
			maxInlineBytes = maxOwnInlineBytes
		}
		n, err := s.storeValue(ctx, messages[start:i+1], maxInlineBytes)
		if err != nil {
			return nil, err
		}
		messageRuns, start, runBytes = append(messageRuns, n), i+1, 0
	}
	return jsonval.Object{nodeMessageRunsKey: messageRuns}, nil
}

// changesEachIdea reports whether each Idea restates a Message.
func changesEachIdea(message any) bool {
	m := jsonval.AsObject(message)
	switch m["type"] {
	case ideafile.TypeState, ideafile.TypePlan, ideafile.TypeError:
		return true
	}
	return m["kind"] == ideafile.TypeState
}
