package modeltest

import (
	"bytes"
	"encoding/json"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/loop"
)

// CarryInstance returns an Instance after continue-as-new: what it carries is encoded, decoded and resumed from.
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

// CarryLoop returns a Loop after continue-as-new. One that may not be carried now is returned as it is.
func CarryLoop(t Fataler, idea *ideafile.Idea, bindings map[string]ideafile.Binding, l *loop.Loop) *loop.Loop {
	if !l.CanCarry() {
		return l
	}
	var c loop.Carried
	roundTripJSON(t, l.Carry(), &c)
	return loop.Restore(idea, l.ProcessID(), bindings, c)
}
