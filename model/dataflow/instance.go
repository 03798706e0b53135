package dataflow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// Run is one instance at work: its State, its Calls, and what may happen next. It is told what happened (Accept, Close,
// Succeed, Fail) and answers what is to be done (Next); it does nothing by itself.
type Instance struct {
	token         string
	palette       ideafile.Palette
	context       []ideafile.Message
	baseMessages  int // Messages of context that it began with
	view          ideafile.View
	schema        any // of State; nil where nothing is said
	state         *statelog.State
	records       []*Record    // in Plan order
	unfinished    *writerIndex // of what; nil while nobody asks often
	openRequests  map[int]bool
	closedThrough int // Requests up to this number are closed
	unreported    []statelog.Write
	now           time.Time
	overdue       *diag.Fault
	// corrections counts the values that people set.
	corrections int
	planStarted bool // the Calls of a Plan that runs directly were taken in
}

// NewRun begins an instance: the palette (whose tokens are not looked at), and the context it may see.
func New(palette ideafile.Palette, context []ideafile.Message, token string) *Instance {
	palette.Tokens = []string{token}
	r := &Instance{token: token, palette: palette, context: context, baseMessages: len(context), openRequests: map[int]bool{}}
	r.look()
	r.state = statelog.New(r.view.Payload[ideafile.TypeState])
	return r
}

// look takes in what the context shows.
func (r *Instance) look() {
	r.view = ideafile.ViewOf(r.context, r.token)
	r.schema = r.view.Schema[ideafile.TypeState]
}

// State is the instance's State as it is now.
func (r *Instance) State() any { return r.state.Value() }

// Writes lists what was written since the start, in Plan order.
func (r *Instance) Writes() []statelog.Write { return r.state.Writes() }

// TakeNewWrites lists what was written since it was asked last, in the order in which it came.
func (r *Instance) TakeNewWrites() []statelog.Write {
	fresh := r.unreported
	r.unreported = nil
	return fresh
}

// Records lists the instance's Calls in Plan order.
func (r *Instance) Records() []*Record { return r.records }

// AcceptCall takes a Call of a Request, as the LLM wrote it. A Request that is closed, and a Call that is known already,
// change nothing. A broken Call is taken as one that has failed: the next Request is told why.
func (r *Instance) AcceptCall(request, index int, call ideafile.WrittenCall) bool {
	at := sort.Search(len(r.records), func(i int) bool { return !r.records[i].stands(request, index) })
	known := at < len(r.records) && r.records[at].Request == request && r.records[at].Index == index
	if known || request <= r.closedThrough {
		return false
	}
	r.openRequests[request] = true
	r.take(r.palette, request, index, call)
	return true
}

// take reads a Call and puts it at its place in the Plan.
func (r *Instance) take(palette ideafile.Palette, request, index int, written ideafile.WrittenCall) *Record {
	at := sort.Search(len(r.records), func(i int) bool { return !r.records[i].stands(request, index) })
	call, _, f := palette.Read(written)
	call.ID, call.Request, call.Index = ideafile.CallID(request, index, r.token), request, index
	rec := &Record{Call: call, Status: ideafile.Waiting, Written: written}
	if f == nil {
		f = r.admit(rec)
	}
	if f != nil {
		rec.end(ideafile.Failed, f)
	}
	r.records = append(r.records, nil)
	copy(r.records[at+1:], r.records[at:])
	r.records[at] = rec
	return rec
}

// admit checks what only the instance knows: what References find outside State, and whether State has room for the
// result.
func (r *Instance) admit(rec *Record) *diag.Fault {
	list, err := refexpr.Expressions(rec.Params)
	if err != nil {
		return diag.Faultf(ideafile.CodeBadReference, "%s", err)
	}
	for _, e := range list {
		if why := r.neverThere(e); why != "" {
			return diag.Faultf(ideafile.CodeBadReference, "%s", why)
		}
		if e.ReadsKind(ideafile.TypeState) {
			rec.reads = append(rec.reads, e)
		}
	}
	for _, place := range rec.Scopes {
		if ref, err := refexpr.ParseScope(place); err == nil && ref.Kind == ideafile.TypeState {
			rec.scoped = append(rec.scoped, ref.Path)
		}
	}
	if t := ideafile.FindTool(r.palette.Tools, rec.Tool); t != nil {
		rec.delegateWrites = t.DelegateWrites
	}
	for _, p := range slices.Concat(rec.OutputPath.Paths(), rec.delegateWrites) {
		if r.schema != nil && jsonschema.PlaceOf(r.schema, p).Closed {
			return diag.Faultf(ideafile.CodeBadPath, "%s stands outside the closed State schema", refexpr.Reference{Kind: ideafile.TypeState, Path: p})
		}
	}
	return nil
}

// neverThere says why no alternative of an expression can ever be there: each reads outside State what is not there.
func (r *Instance) neverThere(e refexpr.Expression) string {
	why := ""
	for _, all := range e {
		missing := ""
		for _, ref := range all {
			if _, known := r.view.Payload[ref.Kind]; ref.Kind == ideafile.TypeState || missing != "" {
				continue
			} else if !known {
				missing = fmt.Sprintf("reference %s: the context has no %q", ref, ref.Kind)
			} else if r.visibilityOf(nil, ref) == absent {
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

// CloseRequest ends a Request at this instance: nothing more of it, or of one before it, is accepted.
func (r *Instance) CloseRequest(request int) {
	if request > r.closedThrough {
		r.closedThrough = request
	}
	//workflowcheck:ignore -- each by itself
	for n := range r.openRequests {
		if n <= r.closedThrough {
			delete(r.openRequests, n)
		}
	}
}

// HasOpenRequest says whether a Request is still speaking to this instance.
func (r *Instance) HasOpenRequest() bool { return len(r.openRequests) > 0 }

// Quiet says that nothing of the instance is running: what is unfinished waits for the LLM or for people.
func (r *Instance) Idle() bool {
	for _, rec := range r.records {
		if rec.phase == running {
			return false
		}
	}
	return !r.HasOpenRequest()
}

// Asking lists the Calls that wait for the LLM to write their results, or to fit their parameters.
func (r *Instance) AwaitingLLM() []*Record {
	var out []*Record
	for _, rec := range r.records {
		if rec.awaitingLLM() {
			out = append(out, rec)
		}
	}
	return out
}

// FindCall gives the Call of an id; nil where there is none.
func (r *Instance) FindCall(id string) *Record {
	for _, rec := range r.records {
		if rec.ID == id {
			return rec
		}
	}
	return nil
}

// ReadyCall is a Call that starts now, with its References resolved.
type ReadyCall struct {
	Record  *Record
	Tool    *ideafile.Tool
	Binding ideafile.Binding
	Params  map[string]any
	// Scopes is what the Call is given beside its parameters, by place.
	Scopes map[string]any
}

// Advance brings every Call as far as it goes without anybody's help and gives those that code must run now, in Plan
// order. They count as running from then on.
func (r *Instance) Advance() []ReadyCall {
	var start []ReadyCall
	r.unfinished = indexWriters(r.records)
	defer func() { r.unfinished = nil }()
	for moved := true; moved; {
		moved = false
		for _, rec := range r.records {
			if r.canAdvance(rec) {
				moved = true
				start = append(start, r.advance(rec)...)
			}
		}
		if moved = moved || r.blockDead(); moved {
			continue
		}
		if knot := r.waitCycle(); knot != nil {
			moved = true
			start = append(start, r.advance(knot)...)
		}
	}
	r.wordBlocked()
	sort.Slice(start, func(i, j int) bool { return start[i].Record.before(start[j].Record) })
	return start
}

// move takes a Call one step on, now that what decides on it will not change any more.
func (r *Instance) advance(rec *Record) []ReadyCall {
	if rec.phase == landing {
		r.finish(rec, rec.Value)
		return nil
	}
	if by, closed := r.closedBy(rec); closed {
		r.skipClosed(rec, by)
		return nil
	}
	if rec.phase == approved {
		return r.start(rec, *rec.ready)
	}
	return r.begin(rec)
}

// begin resolves a Call and starts it, unless a person must look first.
func (r *Instance) begin(rec *Record) []ReadyCall {
	tool := ideafile.FindTool(r.palette.Tools, rec.Tool)
	ready := ReadyCall{Record: rec, Tool: tool, Binding: r.palette.Bindings[rec.Tool]}
	params, err := r.resolve(rec)
	if err == nil {
		params = rec.Adapted.ApplyTo(params)
		err = tool.ValidateParams(params)
		if err != nil && r.adapts(rec, tool, params, err) {
			return nil
		}
	}
	if err != nil {
		rec.end(ideafile.Failed, diag.Faultf(ideafile.CodeBadParams, "%s%s", rec.Adapted.FaultPrefix(), err))
		return nil
	}
	ready.Params, ready.Scopes = params, r.scopes(rec)
	policy, why := r.palette.ApprovalOverride.PolicyFor(tool), rec.ReviewReason
	asks := policy.RequiredFor(params)
	if !asks && why != "" {
		asks, policy = true, &ideafile.Approval{Allow: []string{ideafile.Approve, ideafile.Reject, ideafile.Answer}}
	}
	if rec.ReviewReason = ""; asks {
		r.await(rec, ready, policy, why)
		if ready.Binding.Simulated != nil {
			r.standIn(rec)
		}
		return nil
	}
	return r.start(rec, ready)
}

// start gives a Call to whoever runs it: a latent one ends at once, or asks for its result.
func (r *Instance) start(rec *Record, ready ReadyCall) []ReadyCall {
	rec.ready = &ready
	switch {
	case ready.Binding.Kind != ideafile.KindLatent:
		rec.to(running)
		return []ReadyCall{ready}
	case rec.HasOutput:
		result, _ := r.takeBranch(rec, rec.Output) // a latent Tool says no branch
		r.arrive(rec, result)
	default:
		rec.to(asking)
	}
	return nil
}

// ResolvedParams gives the parameters of a Call as they would run now, or as they were when it started.
func (r *Instance) ResolvedParams(rec *Record) (map[string]any, error) {
	if rec.ready != nil {
		return rec.ready.Params, nil
	}
	return r.resolve(rec)
}

func (r *Instance) resolve(rec *Record) (map[string]any, error) {
	v, err := refexpr.Resolve(rec.Params, r.lookupFor(rec))
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
func (r *Instance) lookupFor(rec *Record) func(refexpr.Reference) (any, bool) {
	return func(ref refexpr.Reference) (any, bool) {
		if ref.Kind == ideafile.TypeState {
			v, how := r.see(rec, ref.Path)
			return v, how != absent
		}
		return r.outside(ref)
	}
}

// outside finds what a Reference says outside State.
func (r *Instance) outside(ref refexpr.Reference) (any, bool) {
	payload, known := r.view.Payload[ref.Kind]
	if !known {
		return nil, false
	}
	return refexpr.LookupIn(payload, ref.Path)
}

// scopes is what a Call is given beside its parameters. Of State that is what stands before it in the Plan: nobody waits
// for more.
func (r *Instance) scopes(rec *Record) map[string]any {
	if len(rec.Scopes) == 0 {
		return nil
	}
	given := map[string]any{}
	for _, place := range rec.Scopes {
		ref, err := refexpr.ParseScope(place)
		if err != nil {
			continue
		}
		from, ok := r.view.Payload[ref.Kind]
		if ref.Kind == ideafile.TypeState {
			from, ok = r.state.Before(rec.Request, rec.Index, ref.Path).Current, true
		}
		if v, found := refexpr.LookupIn(from, ref.Path); ok && found {
			given[strings.TrimPrefix(place, refexpr.Dagger)] = v
		}
	}
	return given
}

// Succeed ends a Call with its result, or fails it where the result does not fit. A Call that is not running or asking
// is left as it is.
func (r *Instance) Succeed(id string, value any) {
	rec := r.FindCall(id)
	if rec == nil || !rec.expects() {
		return
	}
	result, err := r.takeBranch(rec, value)
	if err != nil {
		r.fail(rec, diag.Faultf(ideafile.CodeBadOutput, "%s", err))
		return
	}
	r.arrive(rec, result)
}

// takeBranch notes which branch a result takes, of a Call that has several: an explicit activity may say so, and whoever
// answers in its place.
func (r *Instance) takeBranch(rec *Record, value any) (result any, err error) {
	if !rec.OutputPath.HasBranches() {
		return value, nil
	}
	branch := 0
	if r.palette.Bindings[rec.Tool].Kind != ideafile.KindLatent {
		branch, value, _, err = rec.OutputPath.TakeBranch(value)
	}
	if err == nil {
		rec.Branch = branch + 1
	}
	return value, err
}

// arrive takes a result. An update waits for the Calls before it that write there: it is checked against what it will be
// laid on, and what it changes then stays changed. Anything else lands at once.
func (r *Instance) arrive(rec *Record, value any) {
	if rec.update() {
		rec.Value = value
		rec.to(landing)
		if !r.canAdvance(rec) {
			return
		}
	}
	r.finish(rec, value)
}

func (r *Instance) finish(rec *Record, value any) {
	if by := r.correctedBy(rec); by != "" {
		rec.end(ideafile.Skipped, nil)
		rec.By, rec.Result = by, value
		return
	}
	f := r.applyResult(rec, value)
	if last := len(rec.OutputPath); f != nil && rec.OriginalFault == nil && rec.OutputPath.HasBranches() {
		rec.Branch, rec.OriginalFault, rec.HandedBack = last, f, nil
		f = r.applyResult(rec, diag.FaultValue(f))
	}
	if f != nil {
		f = cmp.Or(rec.OriginalFault, f)
		rec.Branch, rec.OriginalFault = 0, nil
		rec.end(ideafile.Failed, f)
		return
	}
	rec.end(ideafile.Done, nil)
}

// Fail ends a Call whose activity gave up. Where it has several branches, the failure goes to the last one.
func (r *Instance) Fail(id string, f *diag.Fault) {
	if rec := r.FindCall(id); rec != nil && rec.expects() {
		r.fail(rec, f)
	}
}

func (r *Instance) fail(rec *Record, f *diag.Fault) {
	if !rec.OutputPath.HasBranches() {
		rec.end(ideafile.Failed, f)
		return
	}
	rec.Branch, rec.OriginalFault = len(rec.OutputPath), f
	r.arrive(rec, diag.FaultValue(f))
}
