package desk

import (
	"context"
	"maps"
	"slices"

	"processidea/client"
	"processidea/gateway/api"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// processInstanceFacts is what the latest Idea of a process says of its instances.
type processInstanceFacts struct {
	inputByToken map[string]any // by token
	// reversibleCallIDs has, by token, the ids of the Calls that ran and that something takes back.
	reversibleCallIDs map[string][]string
}

// canUndo reports whether something that an instance did can be taken back; of unknown cases it may be.
func (c *processInstanceFacts) canUndo(token string) bool {
	return c == nil || len(c.reversibleCallIDs[token]) > 0
}

// input returns the input of an instance; nil: it is not known.
func (c *processInstanceFacts) input(token string) any {
	if c == nil {
		return nil
	}
	return c.inputByToken[token]
}

// readInstanceFacts reads what an Idea says of its instances; nil if it cannot be read.
func (d *Desk) readInstanceFacts(source jsonval.Object) *processInstanceFacts {
	idea, _ := ideafile.ReadIdeaWithoutCheckingTools(source)
	if idea == nil {
		return nil
	}
	instanceFacts := &processInstanceFacts{map[string]any{}, map[string][]string{}}
	for token, messages := range ideafile.GroupMessagesByInstance(idea.Context) {
		instanceFacts.inputByToken[token] = ideafile.OwnInstanceView(messages, token).PayloadByKind[ideafile.TypeInput]
	}
	bindings, tokens := d.Tools.Bind(idea), idea.InstanceTokens()
	for _, m := range idea.Context {
		for _, call := range turn.ReadRecord(m, tokens) {
			for token, status := range call.StatusByInstance {
				name := call.WrittenCall.Tool
				if ranCall, isOther := call.ExecutedCallByInstance[token]; isOther {
					name = ranCall.Tool
				}
				hasRun := (status == ideafile.CallDone || status == ideafile.CallFailed) && !call.CallKey().IsUndo()
				if tool := idea.Tool(name); hasRun && tool != nil && isReversible(tool, bindings[name]) {
					instanceFacts.reversibleCallIDs[token] = append(instanceFacts.reversibleCallIDs[token],
						call.CallKey().ID(token))
				}
			}
		}
	}
	return instanceFacts
}

func isReversible(t *ideafile.Tool, b ideafile.ToolBinding) bool {
	kind := t.EffectiveUndo(b).Kind
	return kind == ideafile.UndoByTool || kind == ideafile.UndoByProcess
}

// instanceFactsOf returns what the record says of the instances of a process; nil: it is not known yet, or parts have
// them.
func (v *visit) instanceFactsOf(id string, status api.ProcessStatus) *processInstanceFacts {
	if len(status.Parts) > 0 {
		return nil
	}
	instanceFacts, _ := findOrPrevious(v.Context(), v.Desk, v.storeTasks, "cases\n"+id,
		func(*processInstanceFacts) bool { return true },
		func(ctx context.Context) (*processInstanceFacts, error) {
			idea, err := v.loadIdea(ctx, id, 0)
			if err != nil {
				return nil, err
			}
			instanceFacts, err := idea.loadInstanceFacts(ctx)
			if err != nil || instanceFacts == nil || len(status.UndoingProcessIDs) == 0 {
				return instanceFacts, err
			}
			undone, err := v.Client.Chain(id).UndoneCalls(ctx)
			if err != nil {
				return nil, err
			}
			left := maps.Clone(instanceFacts.reversibleCallIDs)
			for token, calls := range left {
				left[token] = slices.DeleteFunc(slices.Clone(calls), func(call string) bool {
					return slices.ContainsFunc(undone, func(u client.UndoneCall) bool { return u.CallID == call })
				})
			}
			return &processInstanceFacts{instanceFacts.inputByToken, left}, nil
		})
	return instanceFacts
}
