package desk

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
)

// decidedPage shows who decided what, when and why on a Call that no longer waits.
type decidedPage struct {
	frame
	Call          string
	D             client.DecidedCall
	Name          string
	Facts         []fact
	StandingOrder *orderForm // nil: the person may give none, or the process has ended
	Undo          string     // the page on which to undo it; empty: not offered
}

func nothingKnown(jsonval.Path, any) string { return "" }

// showDecided shows the outcome of a Call that does not wait.
func (v *visit) showDecided(notWaiting error) error {
	p, err := v.decidedPage(notWaiting)
	if err != nil {
		return err
	}
	return v.show("decided", p)
}

// decidedPage returns the page of a decided Call, or the error notWaiting if nothing is known of the Call.
func (v *visit) decidedPage(notWaiting error) (p decidedPage, err error) {
	var refused *access.Refusal
	if !errors.As(notWaiting, &refused) || refused.Status != http.StatusNotFound {
		return p, notWaiting
	}
	process, call := v.process, v.PathValue("call")
	decided, err := v.Client.Process(process).DecidedCall(v.Context(), call)
	if errors.Is(err, client.ErrNotFound) {
		return p, notWaiting
	}
	if err != nil {
		return p, err
	}
	p = decidedPage{frame: v.frame(clipName(decided.Sentence)), Call: call, D: decided}
	if name := decided.InstanceName; !strings.HasSuffix(call, "@"+name) {
		p.Name = name
	}
	p.Facts = factsOfFields(client.Approval{Call: decided.Call}, nothingKnown)
	if p.May[string(access.Decide)] && v.isAtWork(process) {
		p.StandingOrder = orderFormOf(process, call, decided.Tool, decided.Call, p.Now)
	}
	if p.May[string(access.Steer)] && decided.Status == ideafile.Done {
		p.Undo = undoHref(spelling.WholeProcess(process), url.Values{"call": {call}})
	}
	return p, nil
}

// isAtWork reports whether a process has not ended. A process that does not answer counts as ended.
func (v *visit) isAtWork(process string) bool {
	status, err := v.Status(v.Context(), spelling.WholeProcess(process))
	return err == nil && !hasEnded(status.Status)
}

// whoDecided names who took a decision.
func whoDecided(one approval.Decision) string {
	if one.DecidedBy == approval.DecidedByTimeout {
		return "nobody in time"
	}
	text := approval.Vote{Kind: policy.Approve, DecidedBy: one.DecidedBy, Groups: one.Groups,
		OnBehalfOf: one.OnBehalfOf}.InWords()
	if one.OrderID != "" && one.Kind != approval.SteerDeputy {
		text += ", by a standing order"
	}
	return text
}
