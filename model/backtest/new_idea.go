package backtest

import (
	"fmt"
	"maps"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// newIdea is the new Idea on the data of a past process: with its instances, and what they had as they began. What the new file says of data for
// all instances counts in place of what all had then; what an instance has of its own is always the past's. Schemas are the new file's.
func newIdea(idea *ideafile.Idea, c *chain) (*ideafile.Idea, error) {
	source := maps.Clone(idea.Source)
	source["meta"] = jsonval.WithoutKey(jsonval.AsObject(source["meta"]), "template")
	delete(source, "solution")
	source["context"] = newContext(idea, c)
	addToolsOfServers(source, idea, c)
	made, problems := ideafile.ReadIdea(source)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, fmt.Errorf("model: backtest %s: the file does not fit its instances: %s", c.processID, errs)
	}
	made.Config.Limits.Duration = 0 // no time passes here
	return made, nil
}

// newContext is the context of a new Idea on the data of a past process.
func newContext(idea *ideafile.Idea, c *chain) []any {
	context := []any{}
	given, alone := map[string]bool{}, len(c.instances) == 1 && c.instances[0].token == ""
	schemas := map[string]any{}
	for _, m := range idea.Context {
		if m.PayloadKind != "" && m.PayloadSchema != nil && (m.InstanceToken == "" || schemas[m.PayloadKind] == nil) {
			schemas[m.PayloadKind] = m.PayloadSchema
		}
		switch {
		case m.Type == ideafile.TypeError || m.IsPlanWithRecord():
		case m.PayloadKind == "":
			if m.InstanceToken == "" || c.hasInstance(m.InstanceToken) {
				context = append(context, withoutRecord(m))
			}
		case m.InstanceToken == "" && !alone && m.PayloadKind != ideafile.TypeState && len(jsonval.AsObject(m.Payload)) > 0:
			given[m.PayloadKind] = true
			context = append(context, m.Source)
		}
	}
	for _, kind := range jsonval.SortedKeys(schemas) {
		context = append(context, dataMessage(ideafile.Message{PayloadKind: kind, Payload: map[string]any{}, PayloadSchema: schemas[kind]}))
	}
	for n, i := range c.instances {
		messages := i.own
		if n == 0 {
			messages = slices.Concat(i.shared, i.own)
		}
		hasOwn := false
		for _, m := range messages {
			if m.InstanceToken == "" && given[m.PayloadKind] {
				continue
			}
			m.PayloadSchema = nil
			context = append(context, dataMessage(m))
			hasOwn = hasOwn || m.InstanceToken == i.token
		}
		if !hasOwn {
			context = append(context, dataMessage(ideafile.Message{PayloadKind: ideafile.TypeState, InstanceToken: i.token, Payload: map[string]any{}}))
		}
	}
	return context
}

func (c *chain) hasInstance(token string) bool {
	return slices.ContainsFunc(c.instances, func(i *pastInstance) bool { return i.token == token })
}

// withoutRecord is a Message without what an earlier process recorded in it.
func withoutRecord(m ideafile.Message) map[string]any {
	if m.Type != ideafile.TypePlan {
		return m.Source
	}
	return jsonval.WithoutKey(jsonval.WithoutKey(m.Source, "record"), ideafile.FallbackInstancesKey)
}

// dataMessage writes a Message with data.
func dataMessage(m ideafile.Message) map[string]any {
	out := map[string]any{"type": m.PayloadKind, m.PayloadKind: m.Payload}
	if m.PayloadKind != ideafile.TypeState && m.PayloadKind != ideafile.TypeInput {
		out = map[string]any{"type": ideafile.TypeData, "kind": m.PayloadKind, ideafile.TypeData: m.Payload}
	}
	if m.InstanceToken != "" {
		out["_instance"] = m.InstanceToken
	}
	if m.PayloadSchema != nil {
		out["schema"] = m.PayloadSchema
	}
	return out
}

// addToolsOfServers adds the tools that MCP servers of the new Idea offered then: no server is asked.
func addToolsOfServers(source map[string]any, idea *ideafile.Idea, c *chain) {
	if len(idea.MCPServersToAskForTools()) == 0 {
		return
	}
	schema := maps.Clone(jsonval.AsObject(source["schema"]))
	tools := maps.Clone(jsonval.AsObject(schema["tools"]))
	if tools == nil {
		tools = map[string]any{}
	}
	for _, t := range c.tools {
		if _, ofServer := jsonval.AsObject(t.RawActivity)["mcp"]; ofServer && tools[t.Name] == nil {
			tools[t.Name] = t.Source
		}
	}
	schema["tools"] = tools
	source["schema"] = schema
}
