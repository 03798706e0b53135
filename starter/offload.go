package main

import (
	"context"
	"fmt"

	"processidea/activities/blobs"
	"processidea/model"
)

// offload puts the large values of an Idea's input, State and data into the store, so that no workflow ever sees them,
// and escapes what merely looks like a handle. Messages without either stay as they were written.
func offload(ctx context.Context, store *blobs.Store, idea map[string]any) (map[string]any, error) {
	context, _ := idea["context"].([]any)
	out := make(map[string]any, len(idea))
	for k, v := range idea {
		out[k] = v
	}
	light := make([]any, len(context))
	for n, raw := range context {
		m, err := offloadMessage(ctx, store, raw)
		if err != nil {
			return nil, fmt.Errorf("store $.context[%d]: %w", n, err)
		}
		light[n] = m
	}
	if context != nil {
		out["context"] = light
	}
	return out, nil
}

func offloadMessage(ctx context.Context, store *blobs.Store, raw any) (any, error) {
	m, ok := model.ReadMessage(raw, "", new(model.Problems))
	if !ok || m.Kind == "" {
		return raw, nil
	}
	payload, err := store.OffloadMembers(ctx, m.Payload)
	if err != nil || model.Equal(payload, m.Payload) {
		return raw, err
	}
	return withPayload(m, payload), nil
}

// withPayload is a message with another payload, which stands under the message's key whatever form it had.
func withPayload(m model.Message, payload any) map[string]any {
	out := map[string]any{}
	keep := []string{"type", "kind", "_instance", "schema"}
	if _, under := m.Source[m.Type]; under {
		keep = append(keep, "title", "description")
	}
	for _, k := range keep {
		if v, ok := m.Source[k]; ok {
			out[k] = v
		}
	}
	out[m.Type] = payload
	return out
}
