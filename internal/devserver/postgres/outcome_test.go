package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wI2L/jsondiff"

	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/chain"
)

// asked is how many instances are asked for their Calls: each reads its history again. What became of the others stands
// in the Ideas.
const asked = 20

// outcome is all that a process has come to, as it can be compared with another one's.
func (b *bed) outcome(t *testing.T, r loop.ProcessResult) any {
	t.Helper()
	calls := map[string]any{}
	tokens := slices.Sorted(maps.Keys(r.Instances))
	for _, token := range tokens[:min(asked, len(tokens))] {
		var v protocol.InstanceView
		id := protocol.InstanceID(r.ProcessID, token)
		await(t, id+" answers", func(ctx context.Context) error { return b.ask(ctx, id, protocol.QueryStatus, &v) })
		calls[token] = v.Calls
	}
	// Where an Idea is cut between the first and the last depends on when people decide: one is sealed at every rest.
	ideas := map[string]any{}
	for name, at := range map[string]int{"first": 1, "last": r.IdeaCount} {
		idea, err := chain.New(b.store).Load(t.Context(), r.ProcessID, at)
		if err != nil {
			t.Fatal(err)
		}
		// The time, and what is a digest over it.
		meta := idea["meta"].(map[string]any)
		for _, key := range []string{"createdAt", "digest", "parent", "log", "at"} {
			delete(meta, key)
		}
		ideas[name] = idea
	}
	r.IdeaCount = 0
	return timeless(jsonval.ToJSONValue(map[string]any{"result": r, "calls": calls, "ideas": ideas}))
}

// timeless leaves out when a Call began to wait, and when somebody decided.
func timeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, decision := v["decision"]; decision {
			delete(v, "at")
			delete(v, "since")
		}
		for _, below := range v {
			timeless(below)
		}
	case []any:
		for _, below := range v {
			timeless(below)
		}
	}
	return v
}

// differences words how two outcomes differ, one place a line.
func differences(t *testing.T, from, to any) string {
	t.Helper()
	patch, err := jsondiff.CompareWithoutMarshal(from, to)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n, op := range patch {
		if n == 20 {
			fmt.Fprintf(&b, "and %d more", len(patch)-n)
			break
		}
		fmt.Fprintf(&b, "%s %s: %.200s, not %.200s\n", op.Type, op.Path, jsonval.Encode(jsonval.ToJSONValue(op.Value)),
			jsonval.Encode(jsonval.ToJSONValue(op.OldValue)))
	}
	return b.String()
}
