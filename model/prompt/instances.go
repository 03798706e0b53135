package prompt

import (
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// writeSharedContext writes the part of the context that all instances share.
func (w *promptWriter) writeSharedContext() {
	for _, kind := range []string{ideafile.TypeInstruction, ideafile.TypeText} {
		for _, m := range w.idea.Context {
			if m.Type == kind && m.Instance == "" && len(m.Tools) == 0 {
				w.writeLine("%s\n", m.Text)
			}
		}
	}
	view := ideafile.ViewOf(w.idea.Context, "")
	for _, kind := range jsonval.SortedKeys(view.Payload) {
		if kind != ideafile.TypeState || w.singleUnnamedInstance() {
			continue
		}
		w.writeLine("Every instance's State holds %s, unless it says otherwise below.\n", w.encode(view.Payload[kind]))
	}
	for _, kind := range jsonval.SortedKeys(view.Payload) {
		if kind != ideafile.TypeState {
			w.writeLine("†%s is %s\n", kind, w.encode(view.Payload[kind]))
		}
	}
	if s := view.Schema[ideafile.TypeState]; s != nil {
		w.writeLine("State has the form %s\n", jsonval.Encode(s))
	}
	if w.Len() == 0 {
		w.writeLine("Bring the process to its end.")
	}
}

func (w *promptWriter) writeInstanceStates() {
	if len(w.request.Instances) == 0 {
		return
	}
	w.writeHeading("State")
	shared := ideafile.ViewOf(w.idea.Context, "").Payload[ideafile.TypeState]
	for _, instance := range w.request.Instances {
		if instance.Token != "" {
			w.writeLabeledValue(instance.Token+": ", withoutSharedValues(shared, instance.State))
		} else {
			w.writeLabeledValue("", instance.State)
		}
		w.writeInstanceContext(instance)
		if len(instance.Missing) > 0 {
			w.writeLine("  still missing: %s", strings.Join(instance.Missing, ", "))
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
		case m.Instance != instance.Token:
		case m.Type == ideafile.TypeInstruction && len(m.Tools) > 0:
			w.writeLine("  for %s: %s", strings.Join(m.Tools, ", "), m.Text)
		case m.Type == ideafile.TypeText, m.Type == ideafile.TypeInstruction:
			w.writeLine("  %s", m.Text)
		}
	}
	instanceView := ideafile.MergeMessages(w.idea.Context, instance.Token)
	for _, kind := range jsonval.SortedKeys(instanceView.Payload) {
		if kind != ideafile.TypeState {
			w.writeLine("  †%s of its own: %s", kind, w.encode(instanceView.Payload[kind]))
		}
	}
	if s := instanceView.Schema[ideafile.TypeState]; s != nil {
		w.writeLine("  its State has the form %s", jsonval.Encode(s))
	}
}
