package dataflow

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// ApplyDecision applies a person's decision or remark. If it returns an error, nothing has changed.
func (i *Instance) ApplyDecision(d approval.Decision) error {
	if approval.IsRemark(d.Kind) {
		return i.addRemark(d)
	}
	rec, err := i.callAwaitingDecision(d)
	if err != nil {
		return err
	}
	rec.PendingApproval.AdvanceSchedule(i.CurrentTime) // a person who may decide since a moment ago is allowed
	if err := d.CheckStandingOrderCovers(*rec.PendingApproval, rec.Decisions, i.CurrentTime); err != nil {
		return err
	}
	if d, err = d.VerifyProof(*rec.PendingApproval, rec.Decisions, i.CurrentTime); err != nil {
		return err
	}
	if d, err = i.authorizeDecision(rec, d); err != nil {
		return err
	}
	d.Order = nil // OrderID names the order from here on
	d = i.decisionWithSubjectAndTime(rec, d)
	d.Deciders = rec.PendingApproval.Deciders
	if i.needsMoreVotes(rec, d) {
		return i.addVote(rec, d)
	}
	switch d.Kind {
	case policy.Approve:
		i.approveCall(rec, d)
		return nil
	case policy.Reject:
		i.rejectCall(rec, d)
		return nil
	case policy.Amend:
		return i.amendCall(rec, d)
	case policy.Replace:
		return i.replaceCall(rec, d)
	case policy.Answer:
		return i.answerCall(rec, d)
	}
	return fmt.Errorf("there is no decision %q", jsonval.ClipForError(d.Kind))
}

// decisionWithSubjectAndTime returns a decision with its subject and time.
func (i *Instance) decisionWithSubjectAndTime(rec *CallRecord, d approval.Decision) approval.Decision {
	p := rec.PendingApproval
	d.CallID, d.ApprovalDigest, d.DecidedAt, d.Tool, d.ShownParams = rec.ID, p.Digest, i.CurrentTime, p.Tool, p.Params
	return d
}

// maxRemarksPerCall bounds the remarks on one Call. Comments leave room for the others: whoever may look may comment.
const (
	maxRemarksPerCall  = 100
	maxCommentsPerCall = 50
)

// addRemark keeps a remark on a Call that waits. The Call goes on waiting, under the same digest.
func (i *Instance) addRemark(d approval.Decision) error {
	rec, err := i.callAwaitingDecision(d)
	if err != nil {
		return err
	}
	if d, err = d.VerifyProof(*rec.PendingApproval, rec.Remarks, i.CurrentTime); err != nil {
		return err
	}
	if d.Kind == approval.HandOver {
		if d, err = i.authorizeDecision(rec, d); err == nil {
			err = i.checkHandOverRecipient(rec, d)
		}
		if err != nil {
			return err
		}
	}
	if len(rec.Remarks) >= maxRemarksPerCall {
		return fmt.Errorf("it has %d remarks already, and no more are kept: decide, or say it elsewhere",
			maxRemarksPerCall)
	}
	isComment := func(r approval.Decision) bool { return r.Kind == approval.Comment }
	if isComment(d) && len(jsonval.Filter(rec.Remarks, isComment)) >= maxCommentsPerCall {
		return fmt.Errorf("it has %d comments already, and no more are kept: decide, or say it elsewhere",
			maxCommentsPerCall)
	}
	d.CallID, d.DecidedAt, d.Tool = rec.ID, i.CurrentTime, rec.PendingApproval.Tool
	d.IsForRequest = d.IsForRequest || d.AnswersForRequest(rec.Remarks, i.starters)
	if d.Kind != approval.SteerDeputy && !jsonval.Equal(approval.LastShownParams(rec.Remarks),
		rec.PendingApproval.Params) {
		d.ShownParams = rec.PendingApproval.Params
	}
	if d.Signature != nil {
		d.ApprovalDigest = rec.PendingApproval.Digest
	}
	rec.Remarks = append(slices.Clone(rec.Remarks), d)
	p := *rec.PendingApproval
	p.Remarks = rec.Remarks
	rec.PendingApproval = &p
	return nil
}

// callAwaitingDecision returns the Call that a decision is about, or why the decision does not apply.
func (i *Instance) callAwaitingDecision(d approval.Decision) (*CallRecord, error) {
	rec := i.FindCall(ideafile.CallIDWithExactToken(d.CallID, i.token))
	switch {
	case rec == nil:
		ids := jsonval.Map(i.callRecords, func(rec *CallRecord) string { return rec.ID })
		return nil, approval.UnknownCallError(d.CallID, ids, i.PendingApprovals())
	case rec.PendingApproval == nil:
		return nil, approval.CallNotWaitingError(rec.ID, rec.Status, rec.Decisions)
	case d.ApprovalDigest != "" && d.ApprovalDigest != rec.PendingApproval.Digest:
		return nil, fmt.Errorf("the digest does not match what waits now, %s", rec.PendingApproval.Digest)
	case !rec.PendingApproval.Allows(d.Kind):
		return nil, fmt.Errorf("%s is not allowed here; allowed: %s", d.Kind,
			strings.Join(rec.PendingApproval.AllowedDecisions, ", "))
	}
	return rec, nil
}

func (r *CallRecord) recordDecision(d approval.Decision) {
	d.SentNotifications, d.WaitingSince = r.PendingApproval.ReminderSchedule.SentNotifications(),
		r.PendingApproval.Since
	r.PendingApproval = nil
	r.Decisions = append(r.Decisions, d)
}

// approveCall lets a Call run, at the next Advance, exactly as it was shown.
func (i *Instance) approveCall(rec *CallRecord, d approval.Decision) {
	rec.recordDecision(d)
	rec.setPhase(phaseApproved)
}

func (i *Instance) rejectCall(rec *CallRecord, d approval.Decision) {
	rec.recordDecision(d)
	rec.endWithStatus(ideafile.CallRejected, diag.Faultf(CodeRejected, "%s", d.Describe()))
}

// amendCall lets a Call run with other parameters. If the Tool's policy requires a review of these too, a person is
// asked again. The decision keeps all parameters, amended or not, as they will run.
func (i *Instance) amendCall(rec *CallRecord, d approval.Decision) error {
	ready := *rec.readyCall
	mergedParams, err := approval.MergeParams(ready.Tool, ready.Params, d.AmendedParams)
	if err != nil {
		return fmt.Errorf("params: %w", err)
	}
	ready.Params, d.AmendedParams = mergedParams, mergedParams
	rec.recordDecision(d)
	if approvalPolicy := i.palette.ApprovalOversight.PolicyFor(ready.Tool.Name,
		ready.Tool.Approval); approvalPolicy.RequiresReviewOf(ready.Params) {
		i.requestReview(rec, ready, approvalPolicy, "")
		return nil
	}
	rec.readyCall = &ready
	rec.setPhase(phaseApproved)
	return nil
}

// replaceCall replaces a waiting Call by another one. The new Call is read as if the LLM had written it and falls under
// its own Tool's policy. If it names no output path, it keeps the path of the Call that it replaces.
func (i *Instance) replaceCall(rec *CallRecord, d approval.Decision) error {
	palette := i.palette
	palette.UntargetedCallsGoToAll = true
	normalizedCalls := ideafile.WithInstanceTokensNormalized([]any{d.Replacement},
		func(typedToken string) (string, bool) {
			return i.token,
				spelling.MatchesInstanceToken(typedToken, i.token)
		})
	call, tokens, f := palette.ReadCall(ideafile.ParseWrittenCall(normalizedCalls[0]))
	switch {
	case f != nil:
		return fmt.Errorf("with: %s", f.Message)
	case !slices.Contains(tokens, i.token):
		return fmt.Errorf("with: it is for another instance")
	}
	if len(call.OutputPath) == 0 {
		call.OutputPath, call.OutputMethod = rec.OutputPath, rec.OutputMethod
	}
	call.ID, call.Request, call.Index, call.Undoes = rec.ID, rec.Request, rec.Index, rec.Undoes
	replacement := &CallRecord{Call: call}
	if f := i.prepareCall(replacement); f != nil {
		return fmt.Errorf("with: %s", f.Message)
	}
	rec.recordDecision(d)
	rec.Call, rec.parsedParams, rec.readExpressions = call, replacement.parsedParams, replacement.readExpressions
	rec.scopePaths, rec.delegateWritePaths = replacement.scopePaths, replacement.delegateWritePaths
	rec.readyCall, rec.ParamsAdaptation = nil, nil
	rec.setPhase(phaseWaiting)
	return nil
}

// answerCall takes the result from a person, who may name the branch that the result takes.
func (i *Instance) answerCall(rec *CallRecord, d approval.Decision) error {
	result, err := i.readAnswerResult(rec, d)
	if err != nil {
		return err
	}
	rec.ResultAuthor = turn.AuthorOfPerson(d.DecidedBy)
	if rec.resultUpdatesPath() {
		rec.recordDecision(d)
		i.acceptResult(rec, result)
		return nil
	}
	if f := i.applyResult(rec, result); f != nil {
		rec.ResultAuthor, rec.TakenBranchNumber = "", 0
		return fmt.Errorf("output: %s", f.Message)
	}
	rec.recordDecision(d)
	rec.endWithStatus(ideafile.CallDone, nil)
	return nil
}

// readAnswerResult checks the result that a person gives.
func (i *Instance) readAnswerResult(rec *CallRecord, d approval.Decision) (any, error) {
	value, err := i.selectResultBranch(rec, d.AnswerResult)
	if err == nil {
		err = ideafile.FindTool(i.palette.Tools, rec.Tool).OutputSchema.Validate(value)
	}
	if err != nil {
		rec.TakenBranchNumber = 0
		return nil, fmt.Errorf("output: %w", err)
	}
	return value, nil
}
