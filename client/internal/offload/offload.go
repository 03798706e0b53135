// Package offload puts the large values of a process's input into the store, before the start: no workflow ever sees
// them.
package offload

import (
	"context"
	"fmt"
	"maps"

	"processidea/client/ideafiles"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// Idea puts the large values of an Idea into the store, so that no workflow handles them: values of its input, State,
// data, Plans and their records, and solution. Values that merely look like handles are escaped. Messages without
// either stay as they were written.
func Idea(ctx context.Context, store *blobs.Store, idea jsonval.Object) (jsonval.Object, error) {
	rawMessages := jsonval.AsList(idea["context"])
	offloadedIdea := jsonval.Object{}
	maps.Copy(offloadedIdea, idea)
	offloadedMessages := make([]any, len(rawMessages))
	for n, rawMessage := range rawMessages {
		m, err := offloadMessage(ctx, store, rawMessage)
		if err != nil {
			return nil, fmt.Errorf("store $.context[%d]: %w", n, err)
		}
		offloadedMessages[n] = m
	}
	if rawMessages != nil {
		offloadedIdea["context"] = offloadedMessages
	}
	offloadedIdea, err := offloadTools(ctx, store, offloadedIdea)
	if err != nil {
		return nil, fmt.Errorf("store $.schema.tools: %w", err)
	}
	if solution, ok := idea["solution"].(jsonval.Object); ok {
		calls, err := offloadListItems(ctx, store, solution["calls"])
		if err != nil {
			return nil, fmt.Errorf("store $.solution: %w", err)
		}
		output, err := store.Offload(ctx, solution["output"])
		if err != nil {
			return nil, fmt.Errorf("store $.solution.output: %w", err)
		}
		offloadedIdea["solution"] = jsonval.WithKey(jsonval.WithKey(solution, "calls", calls), "output", output)
	}
	return offloadedIdea, nil
}

// offloadTools puts the Tools of an Idea into the store if they are large.
func offloadTools(ctx context.Context, store *blobs.Store, idea jsonval.Object) (jsonval.Object, error) {
	tools := jsonval.AsObject(jsonval.Lookup(idea, "schema", "tools"))
	if jsonval.SizeUpToLimit(tools, jsonval.LargeValueBytes) <= jsonval.LargeValueBytes {
		return idea, nil
	}
	storedTools, err := store.OffloadTools(ctx, tools)
	if err != nil {
		return nil, err
	}
	return ideafile.WithTools(idea, storedTools), nil
}

// IdeaFiles puts the Idea files of delegates into the store if they are large together.
func IdeaFiles(ctx context.Context, store *blobs.Store, files jsonval.Object) (jsonval.Object, error) {
	if jsonval.SizeUpToLimit(files, jsonval.LargeValueBytes) <= jsonval.LargeValueBytes {
		return files, nil
	}
	storedFiles := make(jsonval.Object, len(files))
	for key, file := range files {
		h, err := store.PutJSONObject(ctx, jsonval.AsObject(file))
		if err != nil {
			return nil, err
		}
		storedFiles[key] = h.AsJSONValue()
	}
	return storedFiles, nil
}

func offloadMessage(ctx context.Context, store *blobs.Store, rawMessage any) (any, error) {
	m, ok := ideafile.ReadMessage(rawMessage, "", new(diag.Problems))
	if ok && m.Type == ideafile.TypePlan {
		return offloadPlan(ctx, store, m.Source)
	}
	if !ok || m.PayloadKind == "" {
		return rawMessage, nil
	}
	payload, err := store.OffloadMembers(ctx, m.Payload)
	if err != nil || jsonval.Equal(payload, m.Payload) {
		return rawMessage, err
	}
	return ideafiles.WithPayload(m, payload), nil
}

// offloadPlan offloads the Calls of a Plan, and the results and decisions in its record.
func offloadPlan(ctx context.Context, store *blobs.Store, plan jsonval.Object) (any, error) {
	calls, err := offloadListItems(ctx, store, plan["plan"])
	if err != nil {
		return nil, err
	}
	offloadedPlan := jsonval.WithKey(plan, "plan", calls)
	record, ok := plan["record"].(jsonval.Object)
	if !ok {
		return offloadedPlan, nil
	}
	for id, raw := range record {
		entry, ok := raw.(jsonval.Object)
		if !ok {
			continue
		}
		for _, key := range []string{"results", "ran"} {
			if values, ok := entry[key]; ok {
				if values, err = store.OffloadMembers(ctx, values); err != nil {
					return nil, err
				}
				entry = jsonval.WithKey(entry, key, values)
			}
		}
		if decisions, ok := entry["decided"]; ok {
			if decisions, err = offloadListItems(ctx, store, decisions); err != nil {
				return nil, err
			}
			entry = jsonval.WithKey(entry, "decided", decisions)
		}
		record = jsonval.WithKey(record, id, entry)
	}
	return jsonval.WithKey(offloadedPlan, "record", record), nil
}

// offloadListItems offloads the members of a list's objects; the list itself stays.
func offloadListItems(ctx context.Context, store *blobs.Store, v any) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return v, nil
	}
	offloadedItems := make([]any, len(list))
	for n, e := range list {
		var err error
		if _, isObject := e.(jsonval.Object); !isObject {
			offloadedItems[n] = e
		} else if offloadedItems[n], err = store.OffloadMembers(ctx, e); err != nil {
			return nil, err
		}
	}
	return offloadedItems, nil
}
