package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"processidea/client"
	"processidea/client/readable"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Decision is a person's decision, in plain words.
type Decision struct {
	DecidedAt       time.Time
	Idea            int    // the number of the Idea whose log has it
	Decider         string // with the groups
	Summary         string // such as: approved 1.2@① refund
	Reason          string
	Proof           string // how the decider's identity is proved; empty if nobody decided
	IsOrderDecision bool   // it gives a standing order, or ends one
	Details         []Detail
	GivenOrder      *approval.StandingOrder // the standing order that the decision gives; nil: none
}

// Detail is more about a decision: what was shown, what the decision changed, and its outcome.
type Detail struct{ Name, Text string }

// maxDetailChars bounds the text of a Detail, in characters.
const maxDetailChars = 4000

// DescribeDecisions describes the decisions of a process, in their order.
func DescribeDecisions(decisions []client.RecordedDecision) []Decision {
	described := make([]Decision, len(decisions))
	for n, d := range decisions {
		described[n] = Decision{DecidedAt: d.DecidedAt, Idea: d.IdeaNumber, Decider: deciderText(d.Decision),
			Summary: describeDecision(d),
			Proof:   proofText(d.Decision),
			Reason:  clipText(d.Reason),
			IsOrderDecision: approval.IsOrderSignal(d.Kind) && d.CallID == "" ||
				d.Kind == approval.SteerEndStandingOrder,
			Details: details(d), GivenOrder: d.Order}
	}
	return described
}

func clipText(s string) string { return readable.VisibleText(readable.Clip(s, maxDetailChars)) }

func valueText(v any) string { return readable.ShortText(v, maxDetailChars) }

var verbByKind = map[string]string{
	client.Approve: "approved", client.Reject: "rejected", client.Amend: "changed",
	client.Replace: "put another Call in the place of",
	client.Answer:  "gave the result of", client.Comment: "remarked", client.Ask: "asked",
	client.HandOver:      "handed over",
	approval.SteerPause:  "paused the process",
	approval.SteerResume: "let the process go on",
	approval.SteerRevise: "corrected the process",
	approval.SteerUndo:   "had Calls taken back", approval.SteerAddInstances: "added instances",
	approval.SteerGiveStandingOrder: "gave a standing order",
	approval.SteerEndStandingOrder:  "ended a standing order",
	approval.SteerDeputy:            "named a deputy",
}

func describeDecision(d client.RecordedDecision) string {
	verb := cmp.Or(verbByKind[d.Kind], d.Kind)
	switch subject := d.About(); {
	case d.CallID == "":
		return clipText(verb)
	case subject != "":
		return clipText(verb + ": " + subject)
	}
	return clipText(strings.TrimSpace(verb + " " + d.CallID + " " + d.Tool))
}

func deciderText(d approval.Decision) string {
	switch d.DecidedBy {
	case approval.DecidedByTimeout:
		return "nobody: the deadline had passed"
	case approval.DecidedByProcess:
		return "the process itself"
	case ideafile.SimulatedDecider:
		return "nobody: it is a simulation"
	case "":
		return "somebody without a name"
	}
	decider := d.DecidedBy
	if len(d.Groups) > 0 {
		decider += " of " + strings.Join(d.Groups, ", ")
	}
	return clipText(approval.DeputyText(decider, d.OnBehalfOf))
}

// proofText says how the decider's identity is proved. Verifying the chain checks these claims.
func proofText(d approval.Decision) string {
	prefix := ""
	if d.StandingOrderID != "" && d.CallID != "" {
		prefix = "under the standing order " + d.StandingOrderID + "; "
	}
	switch s := d.Signature; {
	case d.DecidedBy == approval.DecidedByTimeout || d.DecidedBy == approval.DecidedByProcess ||
		d.DecidedBy == ideafile.SimulatedDecider:
		return ""
	case s != nil:
		name := ""
		if s.Name != "" {
			name = " for " + s.Name
		}
		return clipText(fmt.Sprintf("%ssigned%s: key %s, issuer %s, proof %s", prefix, name, s.KeyThumbprint, s.Issuer,
			s.ID))
	case d.Proof != "":
		return clipText(prefix + "it came with a proof, which nobody checked then")
	}
	return clipText(prefix + "declared: the name was only stated, not proved")
}

func details(d client.RecordedDecision) (list []Detail) {
	add := func(name string, v any) { list = append(list, Detail{name, valueText(v)}) }
	if d.Sentence != "" {
		add("The Call", d.CallID+" "+d.Tool)
	}
	if to := d.RecipientText(); to != "" {
		add("To", to)
	}
	if d.Tool != "" && d.ShownParams != nil {
		add("Was shown", d.ShownParams)
	}
	switch d.Kind {
	case client.Amend:
		add("To run with", d.AmendedParams)
	case client.Replace:
		add("Replaced by", d.Replacement)
	case client.Answer:
		add("The result", d.AnswerResult)
	}
	if o := d.Order; o != nil {
		list = append(list, Detail{"The order", orderText(*o)})
	} else if d.Kind == approval.SteerEndStandingOrder {
		add("The order", d.StandingOrderID)
	}
	if len(d.AddedMessages) > 0 {
		add("Messages", d.AddedMessages)
	}
	if len(d.AddedInstanceTokens) > 0 {
		add("Instances", strings.Join(d.AddedInstanceTokens, ", "))
	}
	if d.Limits != nil {
		add("Limits", jsonval.ToJSONValue(d.Limits))
	}
	if d.Outcome != nil {
		list = append(list, Detail{"What came of it", outcomeText(*d.Outcome)})
	}
	return list
}

// orderText says in words what a standing order allows.
func orderText(o approval.StandingOrder) string {
	s := fmt.Sprintf("%s: Calls of %s are approved", o.ID, o.Tool)
	if o.DeputyName != "" {
		s = fmt.Sprintf("%s: %s may decide", o.ID, o.DeputyName)
	}
	if !o.From.IsZero() {
		s += ", from " + readable.TimestampText(o.From)
	}
	if o.ParamsCondition != nil {
		s += " whose parameters fit " + jsonval.EncodeToString(o.ParamsCondition)
	}
	if o.MaxCalls > 0 {
		s += ", " + readable.Plural(o.MaxCalls, "Call") + " at most"
	}
	if !o.Until.IsZero() {
		s += ", until " + readable.TimestampText(o.Until)
	}
	return clipText(s)
}

func outcomeText(o turn.CallOutcome) string {
	s := "nothing ran"
	if o.ExecutedCall != nil {
		s = "it ran as " + o.ExecutedCall.Tool + " " +
			jsonval.EncodeToString(jsonval.ToJSONValue(o.ExecutedCall.Params))
	}
	s += ": " + string(o.Status)
	if o.Fault != nil {
		s += ", " + o.Fault.Message
	}
	return clipText(s)
}
