package harden

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// FinishedRun is a finished process as its chain recorded it: the Ideas in order, and the log. Where there is no log,
// results are taken from the last State.
type FinishedRun struct {
	Process string
	Ideas   []map[string]any
	Log     []turn.LogEntry
}

// NotGeneralized is something that the runs do not have in common, and the instances in which it differs.
type NotGeneralized struct {
	What      string   `json:"what"`
	Instances []string `json:"instances,omitempty"`
}

// String returns one line of text.
func (n NotGeneralized) String() string {
	if len(n.Instances) == 0 {
		return n.What
	}
	return n.What + " (in " + diag.SomeOf(n.Instances) + ")"
}

// Result is what the runs have in common. Where NotGeneralized is empty, the Idea's Plan is marked optimal, and
// replaying it has led to the final State of every instance. Notes name what was left out without loss.
type Result struct {
	Idea           map[string]any   `json:"idea"`
	NotGeneralized []NotGeneralized `json:"particulars"`
	Notes          []string         `json:"notes"`
}

// Harden finds the Plan that finished processes have in common. With template, the Idea leaves out the data that the
// first process started with. Nothing is guessed: a difference that the data do not explain is listed in
// NotGeneralized. An error names a process that cannot be read, has not finished, or has another palette.
func Harden(runs []FinishedRun, bindings map[string]ideafile.Binding, template bool) (*Result, error) {
	h := &hardener{bindings: bindings}
	for _, run := range runs {
		if err := h.readRun(run); err != nil {
			return nil, fmt.Errorf("model: harden %s: %w", run.Process, err)
		}
	}
	if len(h.instances) == 0 {
		return nil, fmt.Errorf("model: harden: no instance settled")
	}
	h.nameInstances(len(runs) > 1)
	h.alignCalls()
	h.generalizeCalls()
	h.proveByReplay()
	return &Result{Idea: h.buildIdea(template), NotGeneralized: h.mergeNotGeneralized(), Notes: h.notes}, nil
}

// hardener collects what finished processes have in common.
type hardener struct {
	bindings       map[string]ideafile.Binding
	processes      []*processRun
	instances      []*instanceRun
	calls          []*commonCall // the Plan's Calls, in order
	notGeneralized []NotGeneralized
	notes          []string
	output         any // of the Plan
	hasOutput      bool
}

// processRun is a FinishedRun whose first and last Ideas have been read.
type processRun struct {
	FinishedRun
	firstIdea, lastIdea *ideafile.Idea
	instances           []*instanceRun
}

// instanceRun is one instance from start to end.
type instanceRun struct {
	process       *processRun
	token         string
	name          string
	startView     ideafile.View
	finalState    any // State at the end
	recordedCalls []*recordedCall
	startMessages []ideafile.Message // the data Messages that the instance saw at the start
}

// recordedCall is one Call in one instance.
type recordedCall struct {
	request, index int
	raw            map[string]any
	call           ideafile.Call
	status         ideafile.CallStatus
	result         any
	hasResult      bool
	decisions      []turn.Decision
}

// commonCall is a Call of the common Plan, with what each instance that had it recorded.
type commonCall struct {
	key                string
	recordedByInstance map[*instanceRun]*recordedCall
	raw                map[string]any // as written in the Plan
}

func (h *hardener) nameInstances(manyProcesses bool) {
	for _, instance := range h.instances {
		switch {
		case instance.token == "":
			instance.name = instance.process.Process
		case manyProcesses:
			instance.name = instance.process.Process + "/" + instance.token
		default:
			instance.name = instance.token
		}
	}
}

// addNotGeneralized records something that the instances do not have in common.
func (h *hardener) addNotGeneralized(instances []*instanceRun, format string, args ...any) {
	difference := NotGeneralized{What: fmt.Sprintf(format, args...)}
	for _, r := range instances {
		difference.Instances = append(difference.Instances, r.name)
	}
	h.notGeneralized = append(h.notGeneralized, difference)
}

func (h *hardener) addNote(format string, args ...any) {
	h.notes = append(h.notes, fmt.Sprintf(format, args...))
}

// mergeNotGeneralized returns every recorded difference once, with all its instances.
func (h *hardener) mergeNotGeneralized() []NotGeneralized {
	out := []NotGeneralized{}
	index := map[string]int{}
	for _, difference := range h.notGeneralized {
		n, exists := index[difference.What]
		if !exists {
			index[difference.What] = len(out)
			out = append(out, difference)
			continue
		}
		for _, name := range difference.Instances {
			if !slices.Contains(out[n].Instances, name) {
				out[n].Instances = append(out[n].Instances, name)
			}
		}
	}
	return out
}
