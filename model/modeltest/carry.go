package modeltest

import (
	"bytes"
	"encoding/json"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/loop"
)

// carriedRun is a Run after it has travelled to another run of its workflow, as JSON.
func CarryInstance(t Fataler, i *dataflow.Instance) *dataflow.Instance {
	var c dataflow.Carried
	roundTripJSON(t, i.Carry(), &c)
	palette, context, token := i.Origin()
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

// carriedMind is a Mind after it has travelled to another run of its workflow, as JSON. One that cannot travel now stays.
func CarryLoop(t Fataler, idea *ideafile.Idea, bindings map[string]ideafile.Binding, l *loop.Loop) *loop.Loop {
	if !l.CanCarry() {
		return l
	}
	var c loop.Carried
	roundTripJSON(t, l.Carry(), &c)
	return loop.Restore(idea, l.ProcessID(), bindings, c)
}
