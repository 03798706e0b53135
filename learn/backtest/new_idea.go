package backtest

import (
	"fmt"
	"maps"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// newIdeaWithPastData returns the new Idea with the instances of a past process, and the data that they began with.
// Shared data of the new file replaces the shared data of the past; data of a single instance is always taken from the
// past. Schemas come from the new file.
func newIdeaWithPastData(idea *ideafile.Idea, c *chain) (*ideafile.Idea, error) {
	source := maps.Clone(idea.Source)
	source["meta"] = jsonval.WithoutKey(jsonval.AsObject(source["meta"]), "template")
	delete(source, "solution")
	source["context"] = newContextWithPastData(idea, c)
	addRecordedMCPTools(source, idea, c)
	newIdea, problems := ideafile.ReadIdea(source)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, fmt.Errorf("model: backtest %s: the file does not fit its instances: %w", c.ProcessID, errs)
	}
	newIdea.Config.Limits.Duration = 0   // no time passes here
	newIdea.Config.UndoOnFailure = false // and nothing happened that could be undone
	return newIdea, nil
}

// WithPastData returns a new Idea with the data of a past process, or of its first part with instances if it was split.
// The Messages of the file come first, each at its index. It returns nil if no instance is left.
func WithPastData(idea *ideafile.Idea, p *FinishedProcess) (*ideafile.Idea, error) {
	for _, c := range p.chains {
		if len(c.instances) > 0 {
			return newIdeaWithPastData(idea, c)
		}
	}
	return nil, nil
}

// newContextWithPastData is the context of a new Idea with the data of a past process. The Messages of the file keep
// their indexes.
func newContextWithPastData(idea *ideafile.Idea, c *chain) []any {
	context := []any{}
	replacedKinds, kindsWithSchema := map[string]bool{}, map[string]bool{}
	for _, m := range idea.Context {
		if m.InstanceToken == "" && m.PayloadSchema != nil {
			kindsWithSchema[m.PayloadKind] = true
		}
	}
	isAnonymous := c.instances[0].token == ""
	for _, m := range idea.Context {
		replacesSharedData := m.InstanceToken == "" && !isAnonymous && m.PayloadKind != ideafile.TypeState &&
			len(jsonval.AsObject(m.Payload)) > 0
		switch {
		case m.PayloadKind == "" && m.Type != ideafile.TypeError && !m.IsStagelessPlanWithRecord() &&
			(m.InstanceToken == "" || c.hasInstance(m.InstanceToken)):
			context = append(context, withoutRecord(m))
		case m.PayloadKind != "":
			payloadMessage := ideafile.Message{PayloadKind: m.PayloadKind, Payload: jsonval.Object{},
				PayloadSchema: m.PayloadSchema}
			if replacesSharedData {
				replacedKinds[m.PayloadKind], payloadMessage.Payload = true, m.Payload
			}
			if m.InstanceToken != "" && kindsWithSchema[m.PayloadKind] {
				payloadMessage.PayloadSchema = nil
			}
			kindsWithSchema[m.PayloadKind] = kindsWithSchema[m.PayloadKind] || m.PayloadSchema != nil
			context = append(context, ideafile.EncodePayloadMessage(payloadMessage))
		default:
			context = append(context,
				ideafile.EncodePayloadMessage(ideafile.Message{PayloadKind: ideafile.TypeState,
					Payload: jsonval.Object{}}))
		}
	}
	return append(context, recordedDataMessages(c, replacedKinds)...)
}

// recordedDataMessages returns Messages with the data that the instances began with, except shared data that the new
// file replaces.
func recordedDataMessages(c *chain, replacedKinds map[string]bool) (context []any) {
	for n, i := range c.instances {
		messages := i.ownMessages
		if n == 0 {
			messages = slices.Concat(i.sharedMessages, i.ownMessages)
		}
		hasOwnMessages := false
		for _, m := range messages {
			if m.InstanceToken == "" && replacedKinds[m.PayloadKind] {
				continue
			}
			m.PayloadSchema = nil
			context = append(context, ideafile.EncodePayloadMessage(m))
			hasOwnMessages = hasOwnMessages || m.InstanceToken == i.token
		}
		if !hasOwnMessages {
			context = append(context,
				ideafile.EncodePayloadMessage(ideafile.Message{PayloadKind: ideafile.TypeState, InstanceToken: i.token,
					Payload: jsonval.Object{}}))
		}
	}
	return context
}

func (ch *chain) hasInstance(token string) bool {
	return slices.ContainsFunc(ch.instances, func(i *pastInstance) bool { return i.token == token })
}

// withoutRecord is a Message without what an earlier process recorded in it.
func withoutRecord(m ideafile.Message) jsonval.Object {
	if m.Type != ideafile.TypePlan {
		return m.Source
	}
	return jsonval.WithoutKey(m.Source, "record", ideafile.FallbackInstanceTokensKey)
}

// addRecordedMCPTools adds the tools that the MCP servers of the new Idea offered in the past process, so that no
// server is asked.
func addRecordedMCPTools(source jsonval.Object, idea *ideafile.Idea, c *chain) {
	if len(idea.MCPServersToAskForTools()) == 0 {
		return
	}
	schema, tools := maps.Clone(jsonval.AsObject(source["schema"])), jsonval.Object{}
	maps.Copy(tools, jsonval.AsObject(schema["tools"]))
	for _, t := range c.Last().Tools {
		if _, isMCPTool := jsonval.AsObject(t.RawActivity)["mcp"]; isMCPTool && tools[t.Name] == nil {
			tools[t.Name] = t.Source
		}
	}
	schema["tools"] = tools
	source["schema"] = schema
}
