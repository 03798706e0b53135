package dataflow

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Decide applies a person's decision. An error says why the decision changed nothing.
func (i *Instance) Decide(d turn.Decision) error {
	rec, err := i.pendingCall(d)
	if err != nil {
		return err
	}
	d.Digest, d.At = rec.Pending.Digest, i.now
	switch d.Kind {
	case ideafile.Approve:
		i.approve(rec, d)
		return nil
	case ideafile.Reject:
		i.reject(rec, d)
		return nil
	case ideafile.Amend:
		return i.amend(rec, d)
	case ideafile.Replace:
		return i.replace(rec, d)
	}
	return i.answer(rec, d)
}

// pendingCall returns the Call that a decision is about, or why the decision does not apply.
func (i *Instance) pendingCall(d turn.Decision) (*Record, error) {
	rec := i.FindCall(d.Call)
	switch {
	case rec == nil:
		return nil, fmt.Errorf("there is no Call %q", jsonval.Clip(d.Call, 80))
	case rec.Pending == nil && len(rec.Decisions) > 0:
		return nil, fmt.Errorf("%s was decided on already and waits for nobody: it is %s", rec.ID, rec.Status)
	case rec.Pending == nil:
		return nil, fmt.Errorf("%s waits for nobody: it is %s", rec.ID, rec.Status)
	case d.Digest != "" && d.Digest != rec.Pending.Digest:
		return nil, fmt.Errorf("the digest is not that of what waits now, %s", rec.Pending.Digest)
	case !slices.Contains(rec.Pending.Allow, d.Kind):
		return nil, fmt.Errorf("%s is not allowed here; allowed: %s", d.Kind, strings.Join(rec.Pending.Allow, ", "))
	}
	return rec, nil
}

func (r *Record) recordDecision(d turn.Decision) {
	r.Pending = nil
	r.Decisions = append(r.Decisions, d)
}

// approve lets a Call run, at the next Advance, exactly as it was shown.
func (i *Instance) approve(rec *Record, d turn.Decision) {
	rec.recordDecision(d)
	rec.moveTo(approved)
}

func (i *Instance) reject(rec *Record, d turn.Decision) {
	rec.recordDecision(d)
	rec.end(ideafile.Rejected, diag.Faultf(CodeRejected, "%s", d.Describe()))
}

// amend lets a Call run with other parameters; where the Tool's policy asks about these too, a person is asked again.
func (i *Instance) amend(rec *Record, d turn.Decision) error {
	ready := *rec.ready
	if err := checkAmendment(ready.Tool, d.Params); err != nil {
		return fmt.Errorf("params: %w", err)
	}
	ready.Params = d.Params
	rec.recordDecision(d)
	if policy := i.palette.ApprovalOverride.PolicyFor(ready.Tool); policy.RequiredFor(ready.Params) {
		i.requestReview(rec, ready, policy, "")
		return nil
	}
	rec.ready = &ready
	rec.moveTo(approved)
	return nil
}

func checkAmendment(tool *ideafile.Tool, params map[string]any) error {
	for _, k := range jsonval.SortedKeys(params) {
		_, declared := tool.SchemaByParam[k]
		switch {
		case strings.HasPrefix(k, "_"):
			return fmt.Errorf("%q is a meta property; amend gives parameters alone", jsonval.Clip(k, 80))
		case !declared && !tool.AllowsExtraParams:
			return fmt.Errorf("tool %q has no parameter %q", tool.Name, jsonval.Clip(k, 80))
		}
	}
	return tool.ValidateParams(params)
}

// replace puts another Call in the place of one that waits. It is read as if the LLM had written it and falls under its own
// Tool's policy. Where it names no output path, it takes that of the Call it replaces.
func (i *Instance) replace(rec *Record, d turn.Decision) error {
	template := i.palette
	template.UntargetedForAll = true
	call, tokens, f := template.Read(ideafile.ParseWrittenCall(d.Replacement))
	switch {
	case f != nil:
		return fmt.Errorf("with: %s", f.Message)
	case !slices.Contains(tokens, i.token):
		return fmt.Errorf("with: it is for another instance")
	}
	if len(call.OutputPath) == 0 {
		call.OutputPath, call.OutputMethod = rec.OutputPath, rec.OutputMethod
	}
	call.ID, call.Request, call.Index = rec.ID, rec.Request, rec.Index
	replacement := &Record{Call: call}
	if f := i.admitCall(replacement); f != nil {
		return fmt.Errorf("with: %s", f.Message)
	}
	rec.recordDecision(d)
	rec.Call, rec.reads, rec.scopePaths, rec.delegateWrites = call, replacement.reads, replacement.scopePaths, replacement.delegateWrites
	rec.ready, rec.Adapted = nil, nil
	rec.moveTo(waiting)
	return nil
}

// answer takes the result from a person, who may name the branch that it takes.
func (i *Instance) answer(rec *Record, d turn.Decision) error {
	value, err := i.recordBranch(rec, d.Output)
	if err == nil {
		err = ideafile.FindTool(i.palette.Tools, rec.Tool).Output.Validate(value)
	}
	if err != nil {
		rec.Branch = 0
		return fmt.Errorf("output: %w", err)
	}
	rec.answeredBy = turn.PersonAuthor(d.By)
	if rec.isUpdate() {
		rec.recordDecision(d)
		i.acceptResult(rec, value)
		return nil
	}
	if f := i.applyResult(rec, value); f != nil {
		rec.answeredBy, rec.Branch = "", 0
		return fmt.Errorf("output: %s", f.Message)
	}
	rec.recordDecision(d)
	rec.end(ideafile.Done, nil)
	return nil
}
