package modeltest

import (
	"encoding/json"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
)

// ContinueInstanceAsNew returns an Instance after continue-as-new: its carried data is encoded, decoded and restored.
func ContinueInstanceAsNew(t Fataler, i *dataflow.Instance) *dataflow.Instance {
	var c dataflow.CarriedInstance
	roundTripJSON(t, i.CarryIntoNextRun(), &c)
	palette, context, token := i.StartParameters()
	return dataflow.Restore(palette, context, token, c)
}

func roundTripJSON(t Fataler, from, to any) {
	data, err := json.Marshal(from)
	if err != nil {
		t.Fatalf("%s", err)
	}
	if err := jsonval.Unmarshal(data, to); err != nil {
		t.Fatalf("%s", err)
	}
}

// ContinueLoopAsNew returns a Loop after continue-as-new. A Loop that cannot be carried now is returned as it is.
func ContinueLoopAsNew(t Fataler, idea *ideafile.Idea, bindings ideafile.ToolBindings, l *loop.Loop) *loop.Loop {
	if !l.CanCarryIntoNextRun() {
		return l
	}
	var c loop.CarriedLoop
	roundTripJSON(t, l.CarryIntoNextRun(), &c)
	return loop.Restore(idea, l.ProcessID, bindings, c)
}
