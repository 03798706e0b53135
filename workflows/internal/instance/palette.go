package instance

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
)

// If the palette is too large to travel to every instance, this file loads each Tool that Calls of this instance use,
// once.

// loadMissingTools loads the Tools of these names that the instance does not have.
func (i *instance) loadMissingTools(ctx workflow.Context, names []string) {
	i.dataflow.AddTools(i.loadTools(ctx, names))
}

func (i *instance) loadTools(ctx workflow.Context, names []string) []*ideafile.Tool {
	if i.setup.PaletteHandle == nil {
		return nil
	}
	var missingNames []string
	for _, name := range names {
		if !i.isToolLoaded[name] && name != "" {
			i.isToolLoaded[name] = true
			missingNames = append(missingNames, name)
		}
	}
	if len(missingNames) == 0 {
		return nil
	}
	slices.Sort(missingNames)
	return activity.ReadTools(activity.LoadObject(ctx, i.setup.PaletteHandle, missingNames))
}

func toolNamesOfCalls(s protocol.CallsSignal) (names []string) {
	for _, c := range s.Calls {
		names = append(names, c.Call.Tool)
	}
	return names
}

func toolNamesOfPlans(context []ideafile.Message) (names []string) {
	for _, m := range context {
		for _, c := range m.PlanCalls {
			names = append(names, c.Tool)
		}
	}
	return names
}

// toolNames lists the Tools of the Calls that an earlier run knew, and of the Plans that people gave it.
func (c *ContinueAsNewInput) toolNames() (names []string) {
	if c == nil {
		return nil
	}
	for _, rec := range c.Dataflow.CallRecords {
		names = append(names, rec.Tool)
	}
	return append(names, toolNamesOfPlans(readContextMessages(c.Dataflow.AddedMessages))...)
}

// loadFile returns an Idea file that a process carries. Files that are too large to travel are loaded from the
// store.
func loadFile(ctx workflow.Context, file any) (jsonval.Object, bool) {
	if _, isStored := jsonval.AsBlobHandle(file); isStored {
		loaded := activity.LoadObject(ctx, file, nil)
		return loaded, loaded != nil
	}
	m, ok := file.(jsonval.Object)
	return m, ok
}
