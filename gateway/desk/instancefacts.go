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
	// reversibleCallIDsByToken has, by token, the ids of the Calls that ran and that something takes back.
	reversibleCallIDsByToken map[string][]string
}

// canUndo reports whether something that an instance did can be taken back; of unknown cases it may be.
func (c *processInstanceFacts) canUndo(token string) bool {
	return c == nil || len(c.reversibleCallIDsByToken[token]) > 0
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
				toolName := call.WrittenCall.Tool
				if ranCall, ranAnotherCall := call.ExecutedCallByInstance[token]; ranAnotherCall {
					toolName = ranCall.Tool
				}
				hasRun := (status == ideafile.CallDone || status == ideafile.CallFailed) && !call.CallKey().IsUndo()
				if tool := idea.Tool(toolName); hasRun && tool != nil && isReversible(tool, bindings[toolName]) {
					callIDs := append(instanceFacts.reversibleCallIDsByToken[token], call.CallKey().ID(token))
					instanceFacts.reversibleCallIDsByToken[token] = callIDs
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
func (v *visit) instanceFactsOf(processID string, status api.ProcessStatus) *processInstanceFacts {
	if len(status.Parts) > 0 {
		return nil
	}
	instanceFacts, _ := findOrPrevious(v.Context(), v.Desk, v.storeTasks, "cases\n"+processID,
		func(*processInstanceFacts) bool { return true },
		func(ctx context.Context) (*processInstanceFacts, error) {
			idea, err := v.loadIdea(ctx, processID, 0)
			if err != nil {
				return nil, err
			}
			instanceFacts, err := idea.loadInstanceFacts(ctx)
			if err != nil || instanceFacts == nil || len(status.UndoingProcessIDs) == 0 {
				return instanceFacts, err
			}
			undone, err := v.Client.Chain(processID).UndoneCalls(ctx)
			if err != nil {
				return nil, err
			}
			stillReversible := maps.Clone(instanceFacts.reversibleCallIDsByToken)
			for token, calls := range stillReversible {
				stillReversible[token] = slices.DeleteFunc(slices.Clone(calls), func(call string) bool {
					return slices.ContainsFunc(undone, func(u client.UndoneCall) bool { return u.CallID == call })
				})
			}
			return &processInstanceFacts{instanceFacts.inputByToken, stillReversible}, nil
		})
	return instanceFacts
}
