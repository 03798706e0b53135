package harden

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// This file makes of finished processes the Plan that they have in common, as an Idea that runs with no Request.

// Story is a finished process as its chain tells it: the Ideas in order, and what their logs say. Without a log, results are
// read from the last State.
type FinishedRun struct {
	Process string
	Ideas   []map[string]any
	Log     []turn.LogEntry
}

// Particular is something that could not be generalised, and the instances in which it differs.
type NotGeneralized struct {
	What      string   `json:"what"`
	Instances []string `json:"instances,omitempty"`
}

// String gives one line.
func (p NotGeneralized) String() string {
	if len(p.Instances) == 0 {
		return p.What
	}
	return p.What + " (in " + diag.SomeOf(p.Instances) + ")"
}

// Hardened is what Stories have in common. Where Particulars is empty, the Idea's Plan is marked optimal, and gave the final
// State of every instance when it was replayed. Notes tell what was left out and is not missed.
type Hardened struct {
	Idea           map[string]any   `json:"idea"`
	NotGeneralized []NotGeneralized `json:"particulars"`
	Notes          []string         `json:"notes"`
}

// Harden finds the Plan that processes have in common. template leaves out what the first of them began with. Nothing is
// guessed: what differs in a way that the data do not explain is named. An error says which process cannot be read, has not
// finished, or has another palette.
func Harden(stories []FinishedRun, bindings map[string]ideafile.Binding, template bool) (*Hardened, error) {
	h := &hardener{bindings: bindings}
	for _, s := range stories {
		if err := h.read(s); err != nil {
			return nil, fmt.Errorf("model: harden %s: %w", s.Process, err)
		}
	}
	if len(h.runs) == 0 {
		return nil, fmt.Errorf("model: harden: no instance settled")
	}
	h.nameRuns(len(stories) > 1)
	h.align()
	h.generalise()
	h.prove()
	return &Hardened{Idea: h.idea(template), NotGeneralized: h.told(), Notes: h.notes}, nil
}

// hardener gathers what Stories tell.
type hardener struct {
	bindings    map[string]ideafile.Binding
	stories     []*story
	runs        []*instanceRun
	calls       []*commonCall // in the order of the Plan
	particulars []NotGeneralized
	notes       []string
	output      any // of the Plan
	hasOutput   bool
}

// story is a Story whose first and last Ideas have been read.
type story struct {
	FinishedRun
	first, last *ideafile.Idea
	runs        []*instanceRun
}

// hardRun is one instance from its beginning to its end.
type instanceRun struct {
	story *story
	token string
	name  string
	start ideafile.View // what it saw at the start
	final any           // its State at the end
	tries []*callAttempt
	own   []ideafile.Message // its beginning
}

// hardTry is one Call as one instance had it.
type callAttempt struct {
	request, index int
	raw            map[string]any
	call           ideafile.Call
	status         ideafile.CallStatus
	result         any
	hasResult      bool
	decided        []turn.Decision
}

// hardCall is a Call of the common Plan, with the try of each instance that had it.
type commonCall struct {
	key   string
	tries map[*instanceRun]*callAttempt
	raw   map[string]any // as it stands in the Plan
}

func (h *hardener) nameRuns(several bool) {
	for _, r := range h.runs {
		switch {
		case r.token == "":
			r.name = r.story.Process
		case several:
			r.name = r.story.Process + "/" + r.token
		default:
			r.name = r.token
		}
	}
}

// particular names what could not be generalised.
func (h *hardener) particular(runs []*instanceRun, format string, args ...any) {
	p := NotGeneralized{What: fmt.Sprintf(format, args...)}
	for _, r := range runs {
		p.Instances = append(p.Instances, r.name)
	}
	h.particulars = append(h.particulars, p)
}

func (h *hardener) note(format string, args ...any) {
	h.notes = append(h.notes, fmt.Sprintf(format, args...))
}

// told gives what was named, each once, with all instances of it.
func (h *hardener) told() []NotGeneralized {
	out := []NotGeneralized{}
	at := map[string]int{}
	for _, p := range h.particulars {
		n, known := at[p.What]
		if !known {
			at[p.What] = len(out)
			out = append(out, p)
			continue
		}
		for _, name := range p.Instances {
			if !slices.Contains(out[n].Instances, name) {
				out[n].Instances = append(out[n].Instances, name)
			}
		}
	}
	return out
}

// String names a Call as people find it: its tool, and where its result goes.
func (c *commonCall) String() string {
	tool, path, _ := strings.Cut(c.key, "\x00")
	if path, _, _ = strings.Cut(path, "\x00"); path != "" {
		return tool + " → " + path
	}
	return tool
}

// runsOf lists the instances that had a Call, in order.
func (h *hardener) runsOf(c *commonCall) (with, without []*instanceRun) {
	for _, r := range h.runs {
		if c.tries[r] != nil {
			with = append(with, r)
		} else {
			without = append(without, r)
		}
	}
	return with, without
}

// align puts the Calls of all instances into one order: that of each instance, as far as they agree.
func (h *hardener) align() {
	known := map[string]*commonCall{}
	behind := map[*commonCall]map[*commonCall]bool{}
	for _, r := range h.runs {
		var before *commonCall
		for _, k := range keysOf(r.tries) {
			c := known[k.key]
			if c == nil {
				c = &commonCall{key: k.key, tries: map[*instanceRun]*callAttempt{}}
				known[k.key], behind[c] = c, map[*commonCall]bool{}
				h.calls = append(h.calls, c)
			}
			c.tries[r] = k.try
			if before != nil {
				behind[c][before] = true
			}
			before = c
		}
	}
	h.calls = orderCalls(h.calls, behind)
	h.dropIdle()
}

// keyed is a try with the Call that it is one of.
type keyed struct {
	key string
	try *callAttempt
}

// keysOf numbers the Calls of one tool for one path: the nth of one instance is the nth of another.
func keysOf(tries []*callAttempt) []keyed {
	count := map[string]int{}
	var out []keyed
	for _, t := range tries {
		key := t.key()
		count[key]++
		out = append(out, keyed{fmt.Sprintf("%s\x00%d", key, count[key]), t})
	}
	return out
}

func (t *callAttempt) key() string {
	path := ""
	if len(t.call.OutputPath) > 0 {
		path = t.call.OutputPath.Reference()
	}
	return t.call.Tool + "\x00" + path + "\x00" + t.call.OutputMethod
}

// orderCalls sorts Calls behind those that they stood behind; of several that may come next, and in a circle, the first known.
func orderCalls(calls []*commonCall, behind map[*commonCall]map[*commonCall]bool) []*commonCall {
	var out []*commonCall
	placed := map[*commonCall]bool{}
	for len(out) < len(calls) {
		next := firstFree(calls, behind, placed)
		placed[next] = true
		out = append(out, next)
	}
	return out
}

func firstFree(calls []*commonCall, behind map[*commonCall]map[*commonCall]bool, placed map[*commonCall]bool) *commonCall {
	var first *commonCall
	for _, c := range calls {
		if placed[c] {
			continue
		}
		if first == nil {
			first = c
		}
		free := true
		//workflowcheck:ignore -- all are looked at
		for b := range behind[c] {
			free = free && placed[b]
		}
		if free {
			return c
		}
	}
	return first
}

// dropIdle leaves out the Calls that never came to a result and were never skipped for another.
func (h *hardener) dropIdle() {
	var kept []*commonCall
	for _, c := range h.calls {
		used := false
		//workflowcheck:ignore -- all are looked at
		for _, t := range c.tries {
			used = used || t.status == ideafile.Done || t.status == ideafile.Skipped
		}
		if used {
			kept = append(kept, c)
			continue
		}
		with, _ := h.runsOf(c)
		h.note("left out: %s, which came to a result in no instance (planned in %s)", c, diag.SomeOf(namesOfRuns(with)))
	}
	h.calls = kept
}

func namesOfRuns(runs []*instanceRun) []string {
	names := make([]string, len(runs))
	for n, r := range runs {
		names[n] = r.name
	}
	return names
}

func sortTries(list []*callAttempt) {
	sort.SliceStable(list, func(a, b int) bool {
		return list[a].request < list[b].request || list[a].request == list[b].request && list[a].index < list[b].index
	})
}
