package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// PendingCall is a Call that waits for a person's decision.
//
// Invariant: its References are resolved, so that what the person is shown is exactly what will run. A Decision that
// names another Digest is refused.
type PendingCall struct {
	CallID string `json:"call"`
	// Digest is the SHA-256, in hex, of the canonical JSON of call, tool and params and, if they are set, of
	// outputPath, outputMethod, scopes, output and asked.
	Digest       string             `json:"digest"`
	Tool         string             `json:"tool"`
	Params       jsonval.Object     `json:"params"`
	OutputPath   refexpr.OutputPath `json:"outputPath,omitempty"`
	OutputMethod string             `json:"outputMethod,omitempty"`
	// ScopeValues are the values that the Tool is given beside its parameters.
	ScopeValues jsonval.Object `json:"scopes,omitempty"`
	// ParamsAdaptation is set when the LLM adapted Params to the Tool's schema.
	ParamsAdaptation *ParamsAdaptation `json:"adapted,omitempty"`
	// Output is the result that the LLM wrote for a latent Tool.
	Output   any        `json:"output,omitempty"`
	Since    time.Time  `json:"since"`
	Deadline *time.Time `json:"deadline"`
	// TimeoutAction is the decision that is taken at the deadline, or "pause".
	TimeoutAction    string   `json:"onTimeout,omitempty"`
	AllowedDecisions []string `json:"allow"` // and remarks: see Allows
	// ReviewReason is why a person is asked, if the Tool's policy is not the reason.
	ReviewReason string `json:"why,omitempty"`
	// ChangeText says who has changed the Call since it was planned, and why; empty: nobody has.
	ChangeText string `json:"changed,omitempty"`
	// Note is the policy's text for the people who are asked. It does not affect what runs, and is not part of the
	// digest.
	Note string `json:"note,omitempty"`
	// TimesAsked counts the earlier times that people were asked about the Call. It is part of the digest, so that a
	// decision on an earlier version cannot decide this one.
	TimesAsked int `json:"asked,omitempty"`
	// Deciders say who may decide; none: anybody. VotesSoFar are the people who have decided while others still must.
	Deciders   policy.DeciderRules `json:"deciders,omitempty"`
	VotesSoFar []Vote              `json:"decided,omitempty"`
	// Exclusions are the people whom rules exclude from the decision, for display; nil: nobody is excluded, or an older
	// worker did not list them.
	Exclusions *ExcludedPeople `json:"excluded,omitempty"`
	// Remarks are people's comments, questions and hand-overs of the Call, in order.
	Remarks []Decision `json:"remarks,omitempty"`
	// ReminderSchedule says when people are reminded of the Call, and when others may decide too; nil: never.
	ReminderSchedule *policy.ReminderSchedule `json:"whileWaiting,omitempty"`
}

// ExcludedPeople are the people whom ExcludesStarter (StartedBy, CausedBy) and CallsWithExcludedDeciders
// (PriorDecisions) exclude.
type ExcludedPeople struct {
	StartedBy      []policy.Identity      `json:"startedBy,omitempty"`
	CausedBy       []policy.Identity      `json:"causedBy,omitempty"`
	PriorDecisions []policy.PriorDecision `json:"decided,omitempty"`
}

// DenialReason returns why a person may not decide on a Call under rules that exclude these people; "" if they may. A
// nil ExcludedPeople ignores ExcludesStarter, since only the receiver of the decision knows the people.
func (e *ExcludedPeople) DenialReason(p policy.Person, callID string, rules policy.DeciderRules) string {
	if e == nil {
		e, rules = &ExcludedPeople{}, slices.Clone(rules)
		for n := range rules {
			rules[n].ExcludesStarter = false
		}
	}
	if reason := e.DecidedElsewhereReason(p.Identities(), callID); reason != "" {
		return reason
	}
	return rules.DenialReason(p, e.StartedBy, e.CausedBy...)
}

// DecidedElsewhereReason returns why one of these people may not decide on a Call: they decided on an excluding Call.
// It is "" if they may.
func (e *ExcludedPeople) DecidedElsewhereReason(people []policy.Identity, callID string) string {
	for _, prior := range e.PriorDecisions {
		for _, identity := range people {
			if identity.Name != "" && identity.Is(policy.Identity{Name: prior.DecidedBy, Account: prior.Account}) {
				return fmt.Sprintf("%s decided on %s, and may not decide on %s too", identity.Name, prior.CallID,
					callID)
			}
		}
	}
	return ""
}

// Vote is a decision that is not enough by itself: others must decide the same.
type Vote struct {
	Kind      string `json:"decision"`
	DecidedBy string `json:"by"`
	policy.Account
	Groups []string `json:"groups,omitempty"` // the groups that the person claims
	// OnBehalfOf is the person whose deputy decided; nil: DecidedBy decided for themselves.
	OnBehalfOf *policy.Person `json:"for,omitempty"`
	DecidedAt  time.Time      `json:"at"`
}

// Identities is everybody for whom the decision counts.
func (v Vote) Identities() []policy.Identity { return v.decision().Identities() }

func (v Vote) decision() Decision {
	return Decision{DecidedBy: v.DecidedBy, Account: v.Account, Groups: v.Groups, OnBehalfOf: v.OnBehalfOf}
}

// InWords names the person who decided, their groups, the person whose deputy they are and, unless it is an
// approval, the decision: "ann of finance, answer".
func (v Vote) InWords() string {
	text := v.DecidedBy
	if len(v.Groups) > 0 {
		text += " of " + strings.Join(v.Groups, " and ")
	}
	text = DeputyText(text, v.OnBehalfOf)
	if v.Kind != policy.Approve {
		text += ", " + v.Kind
	}
	return text
}

// DecidersInWords names who must decide and who has decided so far: "2 of: people of finance (so far ann)"; "" if
// anybody may.
func (p PendingCall) DecidersInWords() string {
	text, handOver := "", p.LastHandOver()
	if handOver != nil && p.hasRecipientDecided(*handOver) {
		handOver = nil
	}
	if len(p.Deciders) > 0 {
		text = p.Deciders.String()
	}
	switch {
	case handOver != nil && text != "":
		text = handOver.RecipientText() + ", of: " + text
	case handOver != nil:
		text = handOver.RecipientText()
	case text == "":
		return ""
	}
	if names := jsonval.Map(p.VotesSoFar, Vote.InWords); len(names) > 0 {
		text += " (so far " + diag.SummarizeNames(names) + ")"
	}
	return text
}

// Explanation holds the lines that people are shown about why they are asked, beside who decides and until when. Every
// surface shows them. The German text of a new line is under "told: " in gateway/desk/wording/de.json.
func (p PendingCall) Explanation() (lines []string) {
	if p.ReviewReason != "" {
		lines = append(lines, p.ReviewReason)
	}
	if p.ChangeText != "" {
		lines = append(lines, p.ChangeText)
	}
	if p.Note != "" {
		lines = append(lines, p.Note)
	}
	lines = append(lines, jsonval.Map(p.currentRemarks(), Decision.RemarkText)...)
	if len(RemarksForRequest(p.Remarks)) > 0 {
		lines = append(lines, answersAreToldText)
	}
	return lines
}

// answersAreToldText warns whoever answers a question of whose answers the LLM is told.
const answersAreToldText = "the AI that plans the process is told of the question and of what is answered"

// CountAgreeingDecisions returns how many people decided the same on a Call as the signal with an id, up to and
// including that signal, and how many must. It is zero if no decision has the id. One person is enough to reject, amend
// or replace.
func CountAgreeingDecisions(decisions []Decision, signalID string) VoteCount {
	index := slices.IndexFunc(decisions, func(d Decision) bool { return d.SignalID == signalID })
	if index < 0 {
		return VoteCount{}
	}
	d := decisions[index]
	if d.Kind != policy.Approve && d.Kind != policy.Answer {
		return VoteCount{1, 1}
	}
	agreeingCount := 0
	for _, other := range decisions[:index+1] {
		if other.Kind == d.Kind && other.ApprovalDigest == d.ApprovalDigest &&
			jsonval.Equal(other.AnswerResult, d.AnswerResult) {
			agreeingCount++
		}
	}
	return VoteCount{agreeingCount, d.Deciders.RequiredApprovals()}
}

// AdvanceSchedule applies what is due at a time: reminders, and escalations, after which others may decide too.
func (p *PendingCall) AdvanceSchedule(now time.Time) {
	p.ReminderSchedule, p.Deciders = p.ReminderSchedule.AdvancedTo(now, p.Deciders)
}

// NextDueTime returns when the next reminder, escalation or timeout is due; ok is false if none is.
func (p PendingCall) NextDueTime() (next time.Time, ok bool) {
	next, ok = p.ReminderSchedule.NextDueTime()
	if p.Deadline != nil && (!ok || p.Deadline.Before(next)) {
		return *p.Deadline, true
	}
	return next, ok
}

// SetDigest computes the digest.
func (p *PendingCall) SetDigest() {
	m := jsonval.Object{"call": p.CallID, "tool": p.Tool, "params": p.Params}
	if len(p.OutputPath) > 0 {
		m["outputPath"] = p.OutputPath.String()
	}
	if p.OutputMethod != "" {
		m["outputMethod"] = p.OutputMethod
	}
	if p.ScopeValues != nil {
		m["scopes"] = p.ScopeValues
	}
	if p.Output != nil {
		m["output"] = p.Output
	}
	if p.TimesAsked > 0 {
		m["asked"] = p.TimesAsked
	}
	p.Digest = proof.Digest(m)
}
