package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// Run is one instance at work: its State, its Calls, and what may happen next. It is told what happened (Accept, Close,
// Succeed, Fail) and answers what is to be done (Next); it does nothing by itself.
type Run struct {
	token   string
	palette Palette
	context []Message
	given   int // Messages of context that it began with
	view    View
	schema  any // of State; nil where nothing is said
	state   *State
	records []*Record // in Plan order
	writers *writers  // of what; nil while nobody asks often
	open    map[int]bool
	closed  int // Requests up to this number are closed
	fresh   []Write
	now     time.Time
	overdue *Fault
	// corrections counts the values that people set.
	corrections int
	begun       bool // the Calls of a Plan that runs directly were taken in
}

// NewRun begins an instance: the palette (whose tokens are not looked at), and the context it may see.
func NewRun(palette Palette, context []Message, token string) *Run {
	palette.Tokens = []string{token}
	r := &Run{token: token, palette: palette, context: context, given: len(context), open: map[int]bool{}}
	r.look()
	r.state = NewState(r.view.Payload[TypeState])
	return r
}

// look takes in what the context shows.
func (r *Run) look() {
	r.view = ViewOf(r.context, r.token)
	r.schema = r.view.Schema[TypeState]
}

// State is the instance's State as it is now.
func (r *Run) State() any { return r.state.Value() }

// Writes lists what was written since the start, in Plan order.
func (r *Run) Writes() []Write { return r.state.Writes() }

// NewWrites lists what was written since it was asked last, in the order in which it came.
func (r *Run) NewWrites() []Write {
	fresh := r.fresh
	r.fresh = nil
	return fresh
}

// Records lists the instance's Calls in Plan order.
func (r *Run) Records() []*Record { return r.records }

// Accept takes a Call of a Request, as the LLM wrote it. A Request that is closed, and a Call that is known already,
// change nothing. A broken Call is taken as one that has failed: the next Request is told why.
func (r *Run) Accept(request, index int, raw any) bool {
	at := sort.Search(len(r.records), func(i int) bool { return !r.records[i].stands(request, index) })
	known := at < len(r.records) && r.records[at].Request == request && r.records[at].Index == index
	if known || request <= r.closed {
		return false
	}
	r.open[request] = true
	r.take(r.palette, request, index, raw)
	return true
}

// take reads a Call and puts it at its place in the Plan.
func (r *Run) take(palette Palette, request, index int, raw any) *Record {
	at := sort.Search(len(r.records), func(i int) bool { return !r.records[i].stands(request, index) })
	call, _, f := palette.Read(raw)
	call.ID, call.Request, call.Index = CallID(request, index, r.token), request, index
	rec := &Record{Call: call, Status: Waiting, Written: raw}
	if f == nil {
		f = r.admit(rec)
	}
	if f != nil {
		rec.end(Failed, f)
	}
	r.records = append(r.records, nil)
	copy(r.records[at+1:], r.records[at:])
	r.records[at] = rec
	return rec
}

// admit checks what only the instance knows: what References find outside State, and whether State has room for the
// result.
func (r *Run) admit(rec *Record) *Fault {
	list, err := Expressions(rec.Params)
	if err != nil {
		return fault(CodeBadReference, "%s", err)
	}
	for _, e := range list {
		if why := r.neverThere(e); why != "" {
			return fault(CodeBadReference, "%s", why)
		}
		if e.has(TypeState) {
			rec.reads = append(rec.reads, e)
		}
	}
	for _, place := range rec.Scopes {
		if ref, err := scopeReference(place); err == nil && ref.Kind == TypeState {
			rec.scoped = append(rec.scoped, ref.Path)
		}
	}
	if t := findTool(r.palette.Tools, rec.Tool); t != nil {
		rec.hands = t.Writes
	}
	for _, p := range slices.Concat(rec.OutputPath.Paths(), rec.hands) {
		if r.schema != nil && placeOf(r.schema, p).closed {
			return fault(CodeBadPath, "%s stands outside the closed State schema", Reference{TypeState, p})
		}
	}
	return nil
}

// neverThere says why no alternative of an expression can ever be there: each reads outside State what is not there.
func (r *Run) neverThere(e Expression) string {
	why := ""
	for _, all := range e {
		missing := ""
		for _, ref := range all {
			if _, known := r.view.Payload[ref.Kind]; ref.Kind == TypeState || missing != "" {
				continue
			} else if !known {
				missing = fmt.Sprintf("reference %s: the context has no %q", ref, ref.Kind)
			} else if r.sightOf(nil, ref) == absent {
				missing = fmt.Sprintf("reference %s: nothing there", ref)
			}
		}
		if missing == "" {
			return ""
		}
		if why == "" {
			why = missing
		}
	}
	return why
}

// Close ends a Request at this instance: nothing more of it, or of one before it, is accepted.
func (r *Run) Close(request int) {
	if request > r.closed {
		r.closed = request
	}
	//workflowcheck:ignore -- each by itself
	for n := range r.open {
		if n <= r.closed {
			delete(r.open, n)
		}
	}
}

// Listening says whether a Request is still speaking to this instance.
func (r *Run) Listening() bool { return len(r.open) > 0 }

// Quiet says that nothing of the instance is running: what is unfinished waits for the LLM or for people.
func (r *Run) Quiet() bool {
	for _, rec := range r.records {
		if rec.Status == Running && !rec.Arrived {
			return false
		}
	}
	return !r.Listening()
}

// Asking lists the Calls that wait for the LLM to write their results, or to fit their parameters.
func (r *Run) Asking() []*Record {
	var out []*Record
	for _, rec := range r.records {
		if rec.Asking {
			out = append(out, rec)
		}
	}
	return out
}

// Find gives the Call of an id; nil where there is none.
func (r *Run) Find(id string) *Record {
	for _, rec := range r.records {
		if rec.ID == id {
			return rec
		}
	}
	return nil
}

// Ready is a Call that starts now, with its References resolved.
type Ready struct {
	Record  *Record
	Tool    *Tool
	Binding Binding
	Params  map[string]any
	// Scopes is what the Call is given beside its parameters, by place.
	Scopes map[string]any
}

// Next brings every Call as far as it goes without anybody's help and gives those that code must run now, in Plan
// order. They count as running from then on.
func (r *Run) Next() []Ready {
	var start []Ready
	r.writers = writersOf(r.records)
	defer func() { r.writers = nil }()
	for moved := true; moved; {
		moved = false
		for _, rec := range r.records {
			if r.mayMove(rec) {
				moved = true
				start = append(start, r.move(rec)...)
			}
		}
		if moved = moved || r.blockDead(); moved {
			continue
		}
		if knot := r.knot(); knot != nil {
			moved = true
			start = append(start, r.move(knot)...)
		}
	}
	r.wordBlocked()
	sort.Slice(start, func(i, j int) bool { return start[i].Record.before(start[j].Record) })
	return start
}

// move takes a Call one step on, now that what decides on it will not change any more.
func (r *Run) move(rec *Record) []Ready {
	if rec.Arrived {
		r.finish(rec, rec.Value)
		return nil
	}
	if by, closed := r.noRoom(rec); closed {
		r.turnAway(rec, by)
		return nil
	}
	if rec.cleared {
		return r.start(rec, *rec.ready)
	}
	return r.begin(rec)
}

// begin resolves a Call and starts it, unless a person must look first.
func (r *Run) begin(rec *Record) []Ready {
	tool := findTool(r.palette.Tools, rec.Tool)
	ready := Ready{Record: rec, Tool: tool, Binding: r.palette.Bindings[rec.Tool]}
	params, err := r.resolve(rec)
	if err == nil {
		params = rec.Adapted.over(params)
		err = tool.Fits(params)
		if err != nil && r.adapts(rec, tool, params, err) {
			return nil
		}
	}
	if err != nil {
		rec.end(Failed, fault(CodeBadParams, "%s%s", rec.Adapted.still(), err))
		return nil
	}
	ready.Params, ready.Scopes = params, r.scopes(rec)
	policy, why := r.palette.Oversight.Of(tool), rec.Doubt
	asks := policy.asks(params)
	if !asks && why != "" {
		asks, policy = true, &Approval{Allow: []string{Approve, Reject, Answer}}
	}
	if rec.Doubt = ""; asks {
		r.await(rec, ready, policy, why)
		if ready.Binding.Simulated != nil {
			r.standIn(rec)
		}
		return nil
	}
	return r.start(rec, ready)
}

// start gives a Call to whoever runs it: a latent one ends at once, or asks for its result.
func (r *Run) start(rec *Record, ready Ready) []Ready {
	rec.ready, rec.cleared = &ready, false
	switch {
	case ready.Binding.Kind != KindLatent:
		rec.Status = Running
		return []Ready{ready}
	case rec.HasOutput:
		result, _ := r.takeBranch(rec, rec.Output) // a latent Tool says no branch
		r.arrive(rec, result)
	default:
		rec.Asking = true
	}
	return nil
}

// Resolved gives the parameters of a Call as they would run now, or as they were when it started.
func (r *Run) Resolved(rec *Record) (map[string]any, error) {
	if rec.ready != nil {
		return rec.ready.Params, nil
	}
	return r.resolve(rec)
}

func (r *Run) resolve(rec *Record) (map[string]any, error) {
	v, err := Resolve(rec.Params, r.lookupFor(rec))
	if err != nil {
		return nil, err
	}
	params, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("parameters are an object")
	}
	return params, nil
}

// lookupFor finds values as a Call at its place in the Plan sees them.
func (r *Run) lookupFor(rec *Record) func(Reference) (any, bool) {
	return func(ref Reference) (any, bool) {
		if ref.Kind == TypeState {
			v, how := r.see(rec, ref.Path)
			return v, how != absent
		}
		return r.outside(ref)
	}
}

// outside finds what a Reference says outside State.
func (r *Run) outside(ref Reference) (any, bool) {
	payload, known := r.view.Payload[ref.Kind]
	if !known {
		return nil, false
	}
	return lookupIn(payload, ref.Path)
}

// scopes is what a Call is given beside its parameters. Of State that is what stands before it in the Plan: nobody waits
// for more.
func (r *Run) scopes(rec *Record) map[string]any {
	if len(rec.Scopes) == 0 {
		return nil
	}
	given := map[string]any{}
	for _, place := range rec.Scopes {
		ref, err := scopeReference(place)
		if err != nil {
			continue
		}
		from, ok := r.view.Payload[ref.Kind]
		if ref.Kind == TypeState {
			from, ok = r.state.before(rec.Request, rec.Index, ref.Path).now, true
		}
		if v, found := lookupIn(from, ref.Path); ok && found {
			given[strings.TrimPrefix(place, dagger)] = v
		}
	}
	return given
}

// scopeReference reads a place in `_scopes`, with or without a dagger in front.
func scopeReference(place string) (Reference, error) {
	return ParseReference(dagger + strings.TrimPrefix(place, dagger))
}

// Succeed ends a Call with its result, or fails it where the result does not fit. A Call that is not running or asking
// is left as it is.
func (r *Run) Succeed(id string, value any) {
	rec := r.Find(id)
	if rec == nil || !rec.expects() {
		return
	}
	result, err := r.takeBranch(rec, value)
	if err != nil {
		r.fail(rec, fault(CodeBadOutput, "%s", err))
		return
	}
	r.arrive(rec, result)
}

// takeBranch notes which branch a result takes, of a Call that has several: an explicit activity may say so, and whoever
// answers in its place.
func (r *Run) takeBranch(rec *Record, value any) (result any, err error) {
	if !rec.OutputPath.branches() {
		return value, nil
	}
	branch := 0
	if r.palette.Bindings[rec.Tool].Kind != KindLatent {
		branch, value, _, err = rec.OutputPath.take(value)
	}
	if err == nil {
		rec.Taken = branch + 1
	}
	return value, err
}

// arrive takes a result. An update waits for the Calls before it that write there: it is checked against what it will be
// laid on, and what it changes then stays changed. Anything else lands at once.
func (r *Run) arrive(rec *Record, value any) {
	if rec.update() {
		rec.Status, rec.Asking, rec.Arrived, rec.Value = Running, false, true, value
		if !r.mayMove(rec) {
			return
		}
	}
	r.finish(rec, value)
}

func (r *Run) finish(rec *Record, value any) {
	if by := r.correctedBy(rec); by != "" {
		rec.end(Skipped, nil)
		rec.By, rec.Result = by, value
		return
	}
	f := r.land(rec, value)
	if last := len(rec.OutputPath); f != nil && rec.Cause == nil && rec.OutputPath.branches() {
		rec.Taken, rec.Cause, rec.Handed = last, f, nil
		f = r.land(rec, faultValue(f))
	}
	if f != nil {
		f = cmp.Or(rec.Cause, f)
		rec.Taken, rec.Cause = 0, nil
		rec.end(Failed, f)
		return
	}
	rec.end(Done, nil)
}

// Fail ends a Call whose activity gave up. Where it has several branches, the failure goes to the last one.
func (r *Run) Fail(id string, f *Fault) {
	if rec := r.Find(id); rec != nil && rec.expects() {
		r.fail(rec, f)
	}
}

func (r *Run) fail(rec *Record, f *Fault) {
	if !rec.OutputPath.branches() {
		rec.end(Failed, f)
		return
	}
	rec.Taken, rec.Cause = len(rec.OutputPath), f
	r.arrive(rec, faultValue(f))
}
