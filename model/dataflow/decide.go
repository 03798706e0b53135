package dataflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// This file holds what a Run does when a person must look: it asks, takes the decision, and keeps the deadline.

// CodeRejected marks a Call that a person rejected.
const CodeRejected = "rejected"

// CodeOverdue marks a process that pauses because nobody decided in time.
const CodeOverdue = "approval_overdue"

// SetTime tells the time of what comes next.
func (r *Instance) SetTime(now time.Time) { r.now = now }

// ApplyDeadlines lets the deadlines that have passed take effect. A decision that arrived before it is told counts, even if it
// came late.
func (r *Instance) ApplyDeadlines() {
	for _, rec := range r.records {
		if p := rec.Pending; p != nil && p.Deadline != nil && !r.now.Before(*p.Deadline) {
			r.expireCall(rec)
		}
	}
}

func (r *Instance) expireCall(rec *Record) {
	p := rec.Pending
	waited := p.Deadline.Sub(p.Since)
	d := turn.Decision{Kind: p.OnTimeout, Call: rec.ID, Digest: p.Digest, By: turn.DecidedByTimeout, At: r.now,
		Reason: fmt.Sprintf("nobody decided within %s", waited)}
	switch p.OnTimeout {
	case ideafile.Approve:
		r.approve(rec, d)
	case ideafile.Reject:
		r.reject(rec, d)
	default:
		p.Deadline = nil
		r.overdue = diag.Faultf(CodeOverdue, "nobody decided on %s within %s", rec.ID, waited)
	}
}

// TakeOverdue gives, once, why the process must pause: nobody decided in time on a Call whose policy wants that.
func (r *Instance) TakeOverdue() *diag.Fault {
	f := r.overdue
	r.overdue = nil
	return f
}

// NextDeadline is when the next decision is due; ok is false where none is.
func (r *Instance) NextDeadline() (next time.Time, ok bool) {
	for _, rec := range r.records {
		if p := rec.Pending; p != nil && p.Deadline != nil && (!ok || p.Deadline.Before(next)) {
			next, ok = *p.Deadline, true
		}
	}
	return next, ok
}

// Pending lists what waits for a person, in Plan order.
func (r *Instance) Pending() []turn.PendingApproval {
	var list []turn.PendingApproval
	for _, rec := range r.records {
		if rec.Pending != nil {
			list = append(list, *rec.Pending)
		}
	}
	return list
}

// await asks a person about a Call that is ready. What is shown is kept, and is what runs.
func (r *Instance) await(rec *Record, ready ReadyCall, policy *ideafile.Approval, why string) {
	p := &turn.PendingApproval{
		Call: rec.ID, Tool: rec.Tool, Params: ready.Params, OutputPath: rec.OutputPath, OutputMethod: rec.OutputMethod, Scopes: ready.Scopes,
		Adapted: rec.Adapted, Since: r.now, Allow: policy.Allow, ReviewReason: why,
	}
	if rec.HasOutput {
		p.Output = rec.Output
	}
	if policy.Timeout > 0 {
		until := r.now.Add(policy.Timeout)
		p.Deadline, p.OnTimeout = &until, policy.OnTimeout
	}
	if rec.asked++; rec.asked > 1 {
		p.TimesAsked = rec.asked
	}
	p.SetDigest()
	rec.Pending, rec.ready = p, &ready
	rec.to(reviewing)
}

// ReviewUnknownEffect makes a Call wait for a person of which nobody knows whether it had its effect: it must not run twice.
func (r *Instance) ReviewUnknownEffect(id, why string) {
	rec := r.FindCall(id)
	if rec == nil || rec.phase != running || rec.ready == nil {
		return
	}
	r.await(rec, *rec.ready, &ideafile.Approval{Allow: []string{ideafile.Approve, ideafile.Reject, ideafile.Answer}}, why)
}

// Doubt has a person look at a Call that has not started, whatever its Tool's policy says.
func (r *Instance) RequireReview(id, why string) {
	if rec := r.FindCall(id); rec != nil && rec.Status == ideafile.Waiting {
		rec.ReviewReason = why
	}
}

// RequireAnswer makes a Call wait for a person whose tool asks for more than it was given: the person gives the result, or rejects
// the Call.
func (r *Instance) RequireAnswer(id, why string) {
	rec := r.FindCall(id)
	if rec == nil || rec.phase != running || rec.ready == nil {
		return
	}
	r.await(rec, *rec.ready, &ideafile.Approval{Allow: []string{ideafile.Answer, ideafile.Reject}}, why)
}

// Decide takes a person's decision. An error says why it changed nothing.
func (r *Instance) Decide(d turn.Decision) error {
	rec := r.FindCall(d.Call)
	switch {
	case rec == nil:
		return fmt.Errorf("there is no Call %q", jsonval.Clip(d.Call, 80))
	case rec.Pending == nil && len(rec.Decisions) > 0:
		return fmt.Errorf("%s was decided on already and waits for nobody: it is %s", rec.ID, rec.Status)
	case rec.Pending == nil:
		return fmt.Errorf("%s waits for nobody: it is %s", rec.ID, rec.Status)
	case d.Digest != "" && d.Digest != rec.Pending.Digest:
		return fmt.Errorf("the digest is not that of what waits now, %s", rec.Pending.Digest)
	case !slices.Contains(rec.Pending.Allow, d.Kind):
		return fmt.Errorf("%s is not allowed here; allowed: %s", d.Kind, strings.Join(rec.Pending.Allow, ", "))
	}
	d.Digest, d.At = rec.Pending.Digest, r.now
	switch d.Kind {
	case ideafile.Approve:
		r.approve(rec, d)
		return nil
	case ideafile.Reject:
		r.reject(rec, d)
		return nil
	case ideafile.Amend:
		return r.amend(rec, d)
	case ideafile.Replace:
		return r.replace(rec, d)
	}
	return r.answer(rec, d)
}

func (r *Record) decided(d turn.Decision) {
	r.Pending = nil
	r.Decisions = append(r.Decisions, d)
}

// approve lets a Call run, at the next Next, exactly as it was shown.
func (r *Instance) approve(rec *Record, d turn.Decision) {
	rec.decided(d)
	rec.to(approved)
}

func (r *Instance) reject(rec *Record, d turn.Decision) {
	rec.decided(d)
	rec.end(ideafile.Rejected, diag.Faultf(CodeRejected, "%s", d.Describe()))
}

// amend lets a Call run with other parameters, once the Tool's policy has nothing against these.
func (r *Instance) amend(rec *Record, d turn.Decision) error {
	ready := *rec.ready
	for _, k := range jsonval.SortedKeys(d.Params) {
		_, declared := ready.Tool.SchemaByParam[k]
		switch {
		case strings.HasPrefix(k, "_"):
			return fmt.Errorf("params: %q is a meta property; amend gives parameters alone", jsonval.Clip(k, 80))
		case !declared && !ready.Tool.AllowsExtraParams:
			return fmt.Errorf("params: tool %q has no parameter %q", rec.Tool, jsonval.Clip(k, 80))
		}
	}
	if err := ready.Tool.ValidateParams(d.Params); err != nil {
		return fmt.Errorf("params: %w", err)
	}
	ready.Params = d.Params
	rec.decided(d)
	if policy := r.palette.ApprovalOverride.PolicyFor(ready.Tool); policy.RequiredFor(ready.Params) {
		r.await(rec, ready, policy, "")
		return nil
	}
	rec.ready = &ready
	rec.to(approved)
	return nil
}

// replace puts another Call in the place of one that waits. It is read as if the LLM had written it and comes under its
// own Tool's policy; where it says nothing of it, its result goes where that of the first would have gone.
func (r *Instance) replace(rec *Record, d turn.Decision) error {
	template := r.palette
	template.UntargetedForAll = true
	c, tokens, f := template.Read(ideafile.ParseWrittenCall(d.Replacement))
	switch {
	case f != nil:
		return fmt.Errorf("with: %s", f.Message)
	case !slices.Contains(tokens, r.token):
		return fmt.Errorf("with: it is for another instance")
	}
	if len(c.OutputPath) == 0 {
		c.OutputPath, c.OutputMethod = rec.OutputPath, rec.OutputMethod
	}
	c.ID, c.Request, c.Index = rec.ID, rec.Request, rec.Index
	other := &Record{Call: c}
	if f := r.admit(other); f != nil {
		return fmt.Errorf("with: %s", f.Message)
	}
	rec.decided(d)
	rec.delegateWrites = other.delegateWrites
	rec.Call, rec.reads, rec.scoped, rec.ready, rec.Adapted = c, other.reads, other.scoped, nil, nil
	rec.to(waiting)
	return nil
}

// answer takes the result from a person, who may say which branch it takes.
func (r *Instance) answer(rec *Record, d turn.Decision) error {
	value, err := r.takeBranch(rec, d.Output)
	if err == nil {
		err = ideafile.FindTool(r.palette.Tools, rec.Tool).Output.Validate(value)
	}
	if err != nil {
		rec.Branch = 0
		return fmt.Errorf("output: %w", err)
	}
	rec.author = turn.PersonAuthor(d.By)
	if rec.update() {
		rec.decided(d)
		r.arrive(rec, value)
		return nil
	}
	if f := r.applyResult(rec, value); f != nil {
		rec.author, rec.Branch = "", 0
		return fmt.Errorf("output: %s", f.Message)
	}
	rec.decided(d)
	rec.end(ideafile.Done, nil)
	return nil
}
