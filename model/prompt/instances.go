package prompt

import (
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// writeSharedContext writes the part of the context that all instances share: what is to be done, and when it is done.
func (w *promptWriter) writeSharedContext() {
	w.writeHeading("The process")
	headingOnly := w.Len()
	for _, kind := range []string{ideafile.TypeInstruction, ideafile.TypeText} {
		for _, m := range w.idea.Context {
			if m.Type == kind && m.InstanceToken == "" && len(m.InstructionToolNames) == 0 {
				w.writeQuoted("", m.Text)
			}
		}
	}
	view := ideafile.InstanceViewOf(w.idea.Context, "")
	for _, kind := range jsonval.SortedKeys(view.PayloadByKind) {
		if kind != ideafile.TypeState {
			w.writeLabeledValue("†"+kind+": ", view.PayloadByKind[kind])
		}
	}
	if shared, ok := view.PayloadByKind[ideafile.TypeState].(map[string]any); ok && len(shared) > 0 && !w.singleUnnamedInstance() {
		w.writeLabeledValue("Beside what is shown below, †state holds in every instance: ", shared)
	}
	if s := view.SchemaByKind[ideafile.TypeState]; s != nil {
		w.writeLine("Form of State: %s", schemaText(s, s))
		w.writeGoal(s)
	}
	if w.Len() == headingOnly {
		w.writeLine("Bring the process to its end.")
	}
}

// writeGoal says in words when an instance is finished.
func (w *promptWriter) writeGoal(stateSchema any) {
	m, _ := stateSchema.(map[string]any)
	names, _ := jsonval.AsStringList(m["required"])
	var required []string
	views := ideafile.InstanceViewsByToken(w.idea.Context, w.idea.InstanceTokens())
	for _, name := range names {
		if !allStartWithValue(views, name) {
			required = append(required, name)
		}
	}
	if len(required) == 0 {
		return
	}
	subject := "The process"
	if !w.singleUnnamedInstance() {
		subject = "An instance"
	}
	w.writeLine("%s is finished when its State holds: %s.", subject, strings.Join(required, ", "))
}

// allStartWithValue reports whether every instance starts with a value in its State: it is no part of the goal.
func allStartWithValue(views map[string]ideafile.InstanceView, name string) bool {
	//workflowcheck:ignore -- all or not all, in any order
	for _, view := range views {
		state, _ := view.PayloadByKind[ideafile.TypeState].(map[string]any)
		if _, ok := state[name]; !ok {
			return false
		}
	}
	return true
}

func (w *promptWriter) writeInstanceStates() {
	if len(w.request.Instances) == 0 {
		return
	}
	w.writeHeading("State now")
	shared := ideafile.InstanceViewOf(w.idea.Context, "").PayloadByKind[ideafile.TypeState]
	for _, instance := range w.request.Instances {
		if instance.Token != "" {
			w.writeLabeledValue(instance.Token+": ", withoutSharedValues(shared, instance.State))
		} else {
			w.writeLabeledValue("", instance.State)
		}
		w.writeInstanceContext(instance)
		if len(instance.MissingRequiredPaths) > 0 {
			w.writeLine("  still missing: %s", strings.Join(instance.MissingRequiredPaths, ", "))
		}
	}
}

// withoutSharedValues is a State without the values that all instances share: writeSharedContext writes those.
func withoutSharedValues(shared, state any) any {
	sharedObject, ok := shared.(map[string]any)
	instanceObject, isObject := state.(map[string]any)
	if !ok || !isObject {
		return state
	}
	out := map[string]any{}
	for _, k := range jsonval.SortedKeys(instanceObject) {
		if same, ok := sharedObject[k]; !ok || !jsonval.Equal(same, instanceObject[k]) {
			out[k] = instanceObject[k]
		}
	}
	return out
}

// writeInstanceContext writes the part of the context, beside State, that only this instance sees.
func (w *promptWriter) writeInstanceContext(instance turn.InstanceInput) {
	if instance.Token == "" {
		return
	}
	for _, m := range w.idea.Context {
		switch {
		case m.InstanceToken != instance.Token:
		case m.Type == ideafile.TypeInstruction && len(m.InstructionToolNames) > 0:
			w.writeLine("  For %s:", strings.Join(m.InstructionToolNames, ", "))
			w.writeQuoted("  ", m.Text)
		case m.Type == ideafile.TypeText, m.Type == ideafile.TypeInstruction:
			w.writeQuoted("  ", m.Text)
		}
	}
	instanceView := ideafile.OwnMessagesView(w.idea.Context, instance.Token)
	for _, kind := range jsonval.SortedKeys(instanceView.PayloadByKind) {
		if kind != ideafile.TypeState {
			w.writeLabeledValue("  its own †"+kind+": ", instanceView.PayloadByKind[kind])
		}
	}
	if s := instanceView.SchemaByKind[ideafile.TypeState]; s != nil {
		w.writeLine("  form of its State: %s", schemaText(s, s))
	}
}
