package modeltest

import (
	"bytes"
	"encoding/json"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/loop"
)

// carriedRun is a Run after it has travelled to another run of its workflow, as JSON.
func CarriedRun(t Failer, r *dataflow.Instance) *dataflow.Instance {
	var c dataflow.Carried
	throughJSON(t, r.Carry(), &c)
	palette, context, token := r.Origin()
	return dataflow.Resume(palette, context, token, c)
}

func throughJSON(t Failer, from, to any) {
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
func CarriedMind(t Failer, began *ideafile.Idea, bindings map[string]ideafile.Binding, m *loop.Loop) *loop.Loop {
	if !m.MayCarry() {
		return m
	}
	var c loop.Carried
	throughJSON(t, m.Carry(), &c)
	return loop.Resume(began, m.Process(), bindings, c)
}
