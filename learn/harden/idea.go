package harden

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// buildIdea writes the Idea file: the context of the first process, the State schema and the common Plan.
func (h *hardener) buildIdea(asTemplate bool) jsonval.Object {
	firstIdea, lastIdea := h.processes[0].firstIdea, h.processes[0].lastIdea
	ideaObject := jsonval.Object{"meta": h.ideaMeta(lastIdea), "schema": lastIdea.Source["schema"]}
	if asTemplate {
		jsonval.AsObject(ideaObject["meta"])["template"] = true
	}
	for _, k := range []string{"delegates", "config"} {
		if v := lastIdea.Source[k]; v != nil {
			ideaObject[k] = v
		}
	}
	var contextMessages, instanceMessages []any
	for _, m := range firstIdea.Context {
		switch {
		case m.PayloadKind == ideafile.TypeState || m.Type == ideafile.TypeError || m.Type == ideafile.TypePlan:
		case m.InstanceToken != "":
			// Only Messages of instances that the Plan was made from.
			if slices.ContainsFunc(h.processes[0].instances,
				func(r *instanceRun) bool { return r.instanceToken == m.InstanceToken }) {
				instanceMessages = append(instanceMessages, m.Source)
			}
		case m.PayloadKind == "" || !asTemplate || h.isSharedByAllProcesses(m):
			contextMessages = append(contextMessages, m.Source)
		}
	}
	contextMessages = append(contextMessages, jsonval.Object{"type": ideafile.TypeState,
		ideafile.TypeState: h.sharedState(asTemplate),
		"schema":           h.stateSchema()})
	if asTemplate {
		contextMessages = append(contextMessages, h.emptyDataMessages()...)
	} else {
		contextMessages = append(append(contextMessages, h.instanceStateMessages()...), instanceMessages...)
	}
	for _, p := range h.dividePlans() {
		contextMessages = append(contextMessages, p.toMessage(h, len(h.differences) == 0))
	}
	ideaObject["context"] = contextMessages
	return ideaObject
}

func (h *hardener) ideaMeta(lastIdea *ideafile.Idea) jsonval.Object {
	meta := jsonval.Object{}
	if lastIdea.ProcessPath != "" {
		meta["path"] = lastIdea.ProcessPath
	}
	if lastIdea.ProcessVersion != "" {
		meta["version"] = lastIdea.ProcessVersion
	}
	var sources []any
	for _, process := range h.processes {
		sourceMeta := jsonval.AsObject(process.lastIdea.Source["meta"])
		sources = append(sources, jsonval.Object{"process": process.ProcessID, "at": sourceMeta["at"],
			"digest": sourceMeta["digest"]})
	}
	meta["hardened"] = sources
	return meta
}

// emptyDataMessages returns empty Messages for the kinds of data that a template's instances must bring, each with
// the schema of the data that the instances had.
func (h *hardener) emptyDataMessages() (messages []any) {
	payloadsByKind := map[string][]any{}
	for _, r := range h.instances {
		//workflowcheck:ignore -- a map of lists again, each in the order of the instances
		for kind, payload := range r.startView.PayloadByKind {
			payloadsByKind[kind] = append(payloadsByKind[kind], payload)
		}
	}
	delete(payloadsByKind, ideafile.TypeState)
	for kind, v := range jsonval.Sorted(payloadsByKind) {
		if !slices.ContainsFunc(h.instances, func(r *instanceRun) bool { return h.instanceBringsData(r, kind) }) {
			continue
		}
		schema := h.instances[0].startView.SchemaByKind[kind]
		if schema == nil {
			properties := jsonval.Object{}
			for _, payload := range v {
				for k := range jsonval.Sorted(jsonval.AsObject(payload)) {
					properties[k] = inferKeyTypeSchema(v, k)
				}
			}
			schema = jsonval.Object{"type": "object", "properties": properties}
		}
		messages = append(messages, ideafile.EncodePayloadMessage(ideafile.Message{PayloadKind: kind,
			Payload: jsonval.Object{}, PayloadSchema: schema}))
	}
	return messages
}

// instanceBringsData reports whether an instance has data of a kind that not all processes shared, and that a template
// therefore lacks.
func (h *hardener) instanceBringsData(r *instanceRun, kind string) bool {
	return slices.ContainsFunc(r.startMessages, func(m ideafile.Message) bool {
		return m.PayloadKind == kind && (m.InstanceToken != "" || !h.isSharedByAllProcesses(m))
	})
}

// isSharedByAllProcesses reports whether every process had the same shared message.
func (h *hardener) isSharedByAllProcesses(m ideafile.Message) bool {
	return !slices.ContainsFunc(h.processes, func(process *processRun) bool {
		return !slices.ContainsFunc(process.firstIdea.Context, func(other ideafile.Message) bool {
			return other.InstanceToken == "" && other.PayloadKind == m.PayloadKind &&
				jsonval.EqualNumerically(other.Source, m.Source)
		})
	})
}

// sharedState is the State of the unnamed instance, or else an empty one. It is empty in a template.
func (h *hardener) sharedState(asTemplate bool) any {
	if r := h.instances[0]; r.instanceToken == "" && !asTemplate {
		return r.viewAtStart()[ideafile.TypeState]
	}
	return jsonval.Object{}
}

// instanceStateMessages are the State messages that the named instances of the first process started with.
func (h *hardener) instanceStateMessages() []any {
	var stateMessages []any
	for _, r := range h.instances {
		if r.process == h.instances[0].process && r.instanceToken != "" {
			stateMessages = append(stateMessages,
				ideafile.EncodePayloadMessage(ideafile.Message{PayloadKind: ideafile.TypeState,
					InstanceToken: r.instanceToken, Payload: r.viewAtStart()[ideafile.TypeState]}))
		}
	}
	return stateMessages
}
