package modeltest

import (
	"bytes"
	"encoding/json"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/loop"
)

// CarryInstance returns an Instance after continue-as-new: its carried data is encoded, decoded and restored.
func CarryInstance(t Fataler, i *dataflow.Instance) *dataflow.Instance {
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
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		t.Fatalf("%s", err)
	}
}

// CarryLoop returns a Loop after continue-as-new. One that may not be carried now is returned as it is.
func CarryLoop(t Fataler, idea *ideafile.Idea, bindings ideafile.ToolBindings, l *loop.Loop) *loop.Loop {
	if !l.CanCarryIntoNextRun() {
		return l
	}
	var c loop.CarriedLoop
	roundTripJSON(t, l.CarryIntoNextRun(), &c)
	return loop.Restore(idea, l.ProcessID, bindings, c)
}
