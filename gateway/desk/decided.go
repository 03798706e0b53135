package desk

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
)

// decidedPage shows who decided what, when and why on a Call that no longer waits.
type decidedPage struct {
	frame
	CallID        string
	DecidedCall   client.DecidedCall
	InstanceName  string
	Facts         []fact
	StandingOrder *orderForm // nil: the person may give none, or the process has ended
	UndoHref      string     // the page on which to undo it; empty: not offered
	OutcomeText   string     // empty: it did not run, or is not recorded yet
	Result        []fact     // what it brought; empty: it brought nothing that people are shown
	BackHref      string     // the inbox that led here
	Next          *nextCase
}

// LastDecision returns the decision that counts; nil: there are only remarks.
func (p decidedPage) LastDecision() *approval.Decision {
	for n := len(p.DecidedCall.Decisions) - 1; n >= 0; n-- {
		if !approval.IsRemark(p.DecidedCall.Decisions[n].Kind) {
			return &p.DecidedCall.Decisions[n]
		}
	}
	return nil
}

// OtherDecisions returns what else was said and decided.
func (p decidedPage) OtherDecisions() (list []approval.Decision) {
	lastDecision := p.LastDecision()
	for n := range p.DecidedCall.Decisions {
		if one := &p.DecidedCall.Decisions[n]; one != lastDecision {
			list = append(list, *one)
		}
	}
	return list
}

// IsRejectedOrFailed reports whether the Call was rejected or has failed.
func (p decidedPage) IsRejectedOrFailed() bool {
	return p.DecidedCall.Status == ideafile.CallFailed || p.LastDecision() != nil &&
		p.LastDecision().Kind == client.Reject
}

// callOutcomeTexts say what became of a Call that was decided on.
var callOutcomeTexts = map[ideafile.CallStatus]string{ideafile.CallDone: "It is done.",
	ideafile.CallUndone: "It was taken back.", ideafile.CallFailed: "It failed."}

func noOrigin(jsonval.Path, any) string { return "" }

// showDecidedCall shows the outcome of a Call that does not wait.
func (v *visit) showDecidedCall(notWaitingErr error) error {
	p, err := v.newDecidedPage(notWaitingErr)
	if err != nil {
		return err
	}
	return v.show("decided", p)
}

// newDecidedPage returns the page of a decided Call, or the error notWaitingErr if nothing is known of the Call.
func (v *visit) newDecidedPage(notWaitingErr error) (p decidedPage, err error) {
	switch api.ProblemOf(notWaitingErr).Code {
	case api.CodeNotFound, api.CodeNoWorker: // the record may know it
	default:
		return p, notWaitingErr
	}
	processID, callID := v.processID, v.PathValue("call")
	decidedCall, err := v.Client.Process(processID).DecidedCall(v.Context(), callID)
	if errors.Is(err, client.ErrNotFound) {
		return p, notWaitingErr
	}
	if err != nil {
		return p, err
	}
	p = decidedPage{frame: v.frame(clipName(decidedCall.Sentence)), CallID: callID, DecidedCall: decidedCall,
		OutcomeText: callOutcomeTexts[decidedCall.Status], BackHref: deskPathOrRoot(v.FormValue("back"))}
	if !decidedCall.IsFromRecord { // otherwise more questions to a process that does not answer would take long
		p.addNextSteps(v, decidedCall)
	}
	if name := decidedCall.InstanceName; !strings.HasSuffix(callID, "@"+name) {
		p.InstanceName = name
	}
	p.Facts = factsOfFields(client.Approval{Call: decidedCall.Call}, noOrigin)
	p.Result = resultFacts(decidedCall, v.Client.Process(processID).Presenter(v.Context()))
	return p, nil
}

// addNextSteps adds what the person may do next: the next case, a standing order, an undo.
func (p *decidedPage) addNextSteps(v *visit, decidedCall client.DecidedCall) {
	processID, callID := v.processID, p.CallID
	p.Next = v.findNextCase(p.BackHref, outcome{DecisionResult: api.DecisionResult{Process: processID, Call: callID}})
	if p.HasRight[string(access.Decide)] && v.isProcessOpen(processID) {
		p.StandingOrder = orderFormOf(processID, callID, decidedCall.Tool, decidedCall.Call, p.Now)
	}
	if p.HasRight[string(access.Steer)] && decidedCall.Status == ideafile.CallDone &&
		!v.isIrreversible(ideafile.FindTool(v.tools(v.Context(), processID), decidedCall.Tool)) {
		p.UndoHref = undoHref(spelling.WholeProcessID(processID), url.Values{"call": {callID}})
	}
}

// resultFacts describes what a Call wrote; nil: nothing that people are shown.
func resultFacts(c client.DecidedCall, presenter *shown.Presenter) []fact {
	format := presenter.StateFormat().FormatAt(c.OutputPath)
	showsOutput := func(f shown.Field) bool { return f.DisplayText == c.CurrentOutput } // the letter that was sent
	if c.CurrentOutput == nil || format.Display == shown.Hidden || slices.ContainsFunc(c.Fields, showsOutput) {
		return nil
	}
	title := format.TitleOr(c.OutputPath[len(c.OutputPath)-1])
	return []fact{newFactBuilder(c.Language).BuildAt(c.OutputPath, title, format, c.CurrentOutput)}
}

// isProcessOpen reports whether a process has not ended. A process that does not answer counts as ended.
func (v *visit) isProcessOpen(processID string) bool {
	status, err := v.Status(v.Context(), spelling.WholeProcessID(processID))
	return err == nil && !hasEnded(status.Status)
}

// deciderText names who took a decision.
func deciderText(decision approval.Decision) string {
	if decision.DecidedBy == approval.DecidedByTimeout {
		return "nobody in time"
	}
	text := approval.Vote{Kind: policy.Approve, DecidedBy: decision.DecidedBy, Groups: decision.Groups,
		OnBehalfOf: decision.OnBehalfOf}.InWords()
	if decision.StandingOrderID != "" && decision.Kind != approval.SteerDeputy {
		text += ", in advance"
	}
	return text
}
