package model

// Status is where a Call stands.
type Status string

// The statuses of a Call. Waiting and running ones are unfinished, the others are ends.
const (
	Waiting          Status = "waiting"
	AwaitingApproval Status = "awaiting-approval"
	Running          Status = "running"
	Done             Status = "done"
	Failed           Status = "failed"
	Rejected         Status = "rejected"
	Skipped          Status = "skipped"
	Blocked          Status = "blocked"
)

// Ended says whether a Call of this status will change no more.
func (s Status) Ended() bool {
	return s != Waiting && s != AwaitingApproval && s != Running
}

// Record is a Call in its instance, with what became of it.
type Record struct {
	Call
	Status Status `json:"status"`
	// Fault says why a Call failed or is blocked.
	Fault *Fault `json:"error,omitempty"`
	// By says who wrote the path of a skipped Call: a Call's id, a person, or "start". Where Untaken is set, it is the Call
	// that did not take that branch.
	By string `json:"by,omitempty"`
	// Untaken is what a skipped Call would have read: a branch that was not taken, as a Reference.
	Untaken string `json:"untaken,omitempty"`
	// Taken is the branch that the result of a Call with several took, from 1; Cause the failure that went to the last.
	Taken int    `json:"taken,omitempty"`
	Cause *Fault `json:"cause,omitempty"`
	// Result of a Call without an output path.
	Result any `json:"result,omitempty"`
	// Asking marks a Call that is ready and waits for the LLM: to write its result where it is latent, or to fit parameters.
	Asking bool `json:"asking,omitempty"`
	// Adapted is what the LLM was asked to fit to the Tool's schema before the Call could run; nil where all fitted.
	Adapted *Adapted `json:"adapted,omitempty"`
	// Arrived marks a running update whose result, Value, is there and lands when what it could meet from before it in the
	// Plan is there too.
	Arrived bool `json:"arrived,omitempty"`
	Value   any  `json:"value,omitempty"`

	// Doubt says why a person must look at the Call before it runs, whatever its policy says; empty: the policy counts.
	Doubt string `json:"doubt,omitempty"`
	// Pending is what a person is asked about; nil where nobody is.
	Pending *Pending `json:"pending,omitempty"`
	// Decisions are those that people took, in order.
	Decisions []Decision `json:"decisions,omitempty"`

	// Written is the Call as the LLM wrote it.
	Written any `json:"-"`

	// Handed is what a delegate hands back beside its result, by path, until that lands.
	Handed map[string]any `json:"handed,omitempty"`

	reads  []Expression // those of its parameters that read State
	scoped []Path       // State in its scopes: given as far as it is there
	hands  []Path       // for which a delegate may hand values back

	ready   *Ready // as it was shown to a person, or started
	cleared bool   // a person has seen it as it is in ready
	asked   int    // how often people were asked about it
	author  string // the person whose result it has
}

func (r *Record) end(s Status, f *Fault) {
	r.Status, r.Fault = s, f
	r.Asking, r.Arrived, r.Value, r.Handed, r.ready = false, false, nil, nil, nil
}

// expects says whether a result of the Call is still to come, from its activity or from the LLM.
func (r *Record) expects() bool {
	return r.Asking && (r.Adapted == nil || r.Adapted.answered()) || r.Status == Running && !r.Arrived
}

func (r *Record) update() bool {
	return len(r.OutputPath) > 0 && isUpdate(r.Method, r.OutputPath[0][0])
}

// claims lists the paths that the result of a Call changes, as far as that can be told: once it is there, those of the
// branch it takes, and of a result for the whole State the keys it has.
func (r *Record) claims() []Path {
	own := r.claimsItself()
	if len(r.hands) == 0 {
		return own
	}
	return append(own[:len(own):len(own)], r.hands...)
}

// claimsItself is claims for the result alone.
func (r *Record) claimsItself() []Path {
	switch {
	case r.Arrived && r.Taken > 0:
		return r.OutputPath[r.Taken-1]
	case !r.Arrived || r.Method != "" || !r.OutputPath.whole():
		return r.OutputPath.Paths()
	}
	var keys []Path
	m, _ := r.Value.(map[string]any)
	for _, k := range sortedKeys(m) {
		keys = append(keys, Path{k})
	}
	return keys
}

// writes says whether the result can be seen at a path.
func (r *Record) writes(p Path) bool {
	for _, claim := range r.claims() {
		if claim.Overlaps(p) {
			return true
		}
	}
	return false
}

// writesAbove says whether a Call writes a place that holds a path, and more.
func (r *Record) writesAbove(p Path) bool {
	for _, q := range r.OutputPath.Paths() {
		if len(q) < len(p) && p.Within(q) {
			return true
		}
	}
	return false
}

// writer names who writes the result: the Call, or the person who answered in its place.
func (r *Record) writer() string {
	if r.author != "" {
		return r.author
	}
	return r.ID
}

func (r *Record) before(o *Record) bool { return r.stands(o.Request, o.Index) }

// stands says whether a Call stands before a place in the Plan.
func (r *Record) stands(request, index int) bool {
	return r.Request < request || r.Request == request && r.Index < index
}

// Counts is how many Calls ended how, as `run --json` tells it.
type Counts struct {
	Done     int `json:"done"`
	Failed   int `json:"failed"`
	Rejected int `json:"rejected"`
	Skipped  int `json:"skipped"`
	Blocked  int `json:"blocked"`
}

// Ended is how many Calls have ended in all.
func (c Counts) Ended() int { return c.Done + c.Failed + c.Rejected + c.Skipped + c.Blocked }

// Count adds one Call.
func (c *Counts) Count(s Status) {
	switch s {
	case Done:
		c.Done++
	case Failed:
		c.Failed++
	case Rejected:
		c.Rejected++
	case Skipped:
		c.Skipped++
	case Blocked:
		c.Blocked++
	}
}

// Add adds another count.
func (c *Counts) Add(o Counts) {
	c.Done += o.Done
	c.Failed += o.Failed
	c.Rejected += o.Rejected
	c.Skipped += o.Skipped
	c.Blocked += o.Blocked
}
