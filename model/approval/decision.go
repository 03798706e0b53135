package approval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Decision is a person's decision on a Call or on the whole process. The Call's record keeps it, and the log of the
// next Idea keeps every decision.
type Decision struct {
	// Kind is, for a Call: approve, reject, amend, replace, answer, or a remark, which decides nothing (comment, ask,
	// hand-over, deputy); for a process: pause, resume, revise or add; for a Plan: approve-plan, amend-plan or
	// reject-plan.
	Kind string `json:"decision"`
	// CallID is the Call's id; empty if the decision is about the process.
	CallID string `json:"call,omitempty"`
	// ApprovalDigest is the digest of the PendingCall that the person saw; empty if the signal named none.
	ApprovalDigest string `json:"digest,omitempty"`
	// DecidedBy is the person's name, DecidedByTimeout or DecidedByProcess.
	DecidedBy string `json:"by,omitempty"`
	// Account is the person's account at an issuer of tokens, from the proof or else from the signal; zero: unknown.
	policy.Account
	// Groups are the groups that the person claims, or that the proof confirms.
	Groups []string `json:"groups,omitempty"`
	// OnBehalfOf is the person whose deputy took the decision; nil: DecidedBy decided for themselves.
	OnBehalfOf *policy.Person `json:"for,omitempty"`
	Reason     string         `json:"reason,omitempty"`
	// DeputyRemarks are the remarks on deputies that a whole process sends to a part with a decision on a Plan.
	DeputyRemarks []Decision `json:"-"`
	// RecipientName and RecipientGroup are the person or the group that a remark is addressed to.
	RecipientName  string `json:"to,omitempty"`
	RecipientGroup string `json:"toGroup,omitempty"`
	// IsForRequest means that the LLM is told of a question or, as the process finds, of an answer to one.
	IsForRequest bool `json:"forRequest,omitempty"`
	// Proof is the signature of the signal, unchanged: a compact JWS; empty: the decision is declared, that is, its
	// sender claims to be DecidedBy.
	Proof string `json:"proof,omitempty"`
	// Signature is set once the proof was verified. Verification is the result of the verification, until then.
	Signature    *proof.SignatureInfo `json:"signed,omitempty"`
	Verification *proof.Verification  `json:"-"`
	// SignalID is the id in the signal's payload.
	SignalID  string    `json:"id,omitempty"`
	DecidedAt time.Time `json:"at"`
	// WaitingSince is when the Call began to wait; zero if the decision did not end its wait.
	WaitingSince time.Time `json:"since,omitzero"`
	// Tool and ShownParams are what would have run, as shown to the person.
	Tool        string         `json:"tool,omitempty"`
	ShownParams jsonval.Object `json:"shown,omitempty"`
	// StandingOrderID names the standing order under which the decision was taken; Order is the order as it was then.
	// For other kinds, both are the order that the process was given, or the order that named the Call's deputy.
	StandingOrderID string         `json:"under,omitempty"`
	Order           *StandingOrder `json:"order,omitempty"`
	// Deciders are the rules for who may take the decision; none: anybody may.
	Deciders policy.DeciderRules `json:"deciders,omitempty"`
	// SentNotifications records the reminders and escalations while the Call waited; nil: none.
	SentNotifications *policy.NotificationRecord `json:"told,omitempty"`
	// AmendedParams are the parameters of an amended Call: values, never References.
	AmendedParams jsonval.Object `json:"params,omitempty"`
	// Replacement is the Call to run instead, in the form in which the LLM writes Calls.
	Replacement jsonval.Object `json:"with,omitempty"`
	// AnswerResult is the result that the person gave in place of running the Call.
	AnswerResult any `json:"output,omitempty"`
	// PlanRequest is the number of the Request whose Plan was decided on as a whole; nil: the decision is not on a
	// Plan. AmendedCalls are the Plan's Calls as a person amended them. PlannedCalls are the planned Calls of a Plan
	// that was amended or rejected.
	PlanRequest  *int                   `json:"request,omitempty"`
	AmendedCalls []ideafile.WrittenCall `json:"calls,omitempty"`
	PlannedCalls []ideafile.WrittenCall `json:"planned,omitempty"`
	// AddedMessages holds the Messages of a revision, AddedInstanceTokens the tokens that were added, Limits the new
	// limits; a limit of 0 stays as it was.
	AddedMessages       []any            `json:"context,omitempty"`
	AddedInstanceTokens []string         `json:"instances,omitempty"`
	Limits              *ideafile.Limits `json:"limits,omitempty"`
}

// Values of DecidedBy if no person decided.
const (
	DecidedByTimeout = "timeout" // nobody decided before the deadline
	DecidedByProcess = "process" // the process paused by itself, as at a limit
)

// Placeholders in the payloads that people are shown, for what only they know. A signal that still has one is refused.
const (
	PlaceholderName   = "your name"
	PlaceholderGroup  = "your group"
	PlaceholderReason = "<why>"
	PlaceholderTool   = "<name of a tool>"
	PlaceholderOutput = "<the result>"
)

var placeholders = []string{PlaceholderName, PlaceholderGroup, PlaceholderReason, PlaceholderTool, PlaceholderOutput}

// CheckNoPlaceholder refuses a value that still has a placeholder.
func CheckNoPlaceholder(key string, v any) error {
	s, ok := v.(string)
	if ok && slices.Contains(placeholders, strings.TrimSpace(s)) {
		return fmt.Errorf("%q is still the placeholder %q: replace it by your own", key, s)
	}
	return nil
}

const (
	maxReasonLength   = 2000 // characters
	maxNameOrIDLength = 200  // characters of a person's or a group's name, of a signal's id and of a Call's id
	maxProofLength    = proof.MaxProofLength
	maxGroups         = 100
)

// ReadDecision reads the payload of a decision's signal; kind is the signal's name. Its keys are call, digest, by,
// groups, reason, proof and id; also params for amend, with for replace, output for answer, to and toGroup for remarks,
// and forRequest for ask. An approval under a standing order, or a remark on a deputy, has order in place of by,
// groups, reason and proof.
func ReadDecision(kind string, m jsonval.Object) (d Decision, err error) {
	d.Kind = kind
	rawOrder := m[orderKey]
	payloadKey := map[string]string{policy.Amend: "params", policy.Replace: "with", policy.Answer: "output",
		Ask: "forRequest"}[kind]
	textTargets := commonTextTargets(&d.SignalID, &d.DecidedBy, &d.Reason, &d.Account)
	textTargets["call"], textTargets["digest"] = &d.CallID, &d.ApprovalDigest
	if IsRemark(kind) {
		textTargets["to"], textTargets["toGroup"] = &d.RecipientName, &d.RecipientGroup
	}
	if AcceptsProof(kind) {
		textTargets["proof"] = &d.Proof
	}
	err = readTextFields(m, textTargets, &d.Groups, orderKey, payloadKey)
	if err == nil && rawOrder != nil {
		err = d.readOrder(rawOrder)
	}
	if err != nil {
		return d, err
	}
	value, isPresent := m[payloadKey]
	switch {
	case d.CallID == "":
		return d, fmt.Errorf(`it names no Call: "call" is missing`)
	case kind == Ask && value != nil && value != true && value != false:
		return d, fmt.Errorf("%q is true or false, not %s", payloadKey, jsonval.TypeOf(value))
	case IsRemark(kind):
		d.IsForRequest = value == true
		return d, d.checkRemark()
	case kind == policy.Reject && strings.TrimSpace(d.Reason) == "":
		return d, fmt.Errorf(`a rejection says why: "reason" is missing`)
	case payloadKey != "" && !isPresent:
		return d, fmt.Errorf("%s wants %q", kind, payloadKey)
	case payloadKey != "" && len(jsonval.Encode(value)) > jsonval.LargeValueBytes:
		return d, fmt.Errorf("%q is larger than 64 KB", payloadKey)
	}
	if err := CheckNoPlaceholder(payloadKey, value); err != nil {
		return d, err
	}
	if err := CheckNoPlaceholder("_tool", jsonval.AsObject(value)["_tool"]); kind == policy.Replace && err != nil {
		return d, err
	}
	// A value that looks like a handle is data: a person must not be able to read from the store with it.
	object, isObject := jsonval.EscapeBlobHandles(value).(jsonval.Object)
	switch {
	case kind == policy.Answer:
		d.AnswerResult = jsonval.EscapeBlobHandles(value)
	case payloadKey != "" && !isObject:
		return d, fmt.Errorf("%q is an object, not %s", payloadKey, jsonval.TypeOf(value))
	case kind == policy.Amend:
		d.AmendedParams = object
	case kind == policy.Replace:
		d.Replacement = object
	}
	return d, nil
}

// readGroups reads the groups that the person claims; null means none.
func readGroups(v any) ([]string, error) {
	list, ok := jsonval.AsStringList(v)
	if (!ok && v != nil) || len(list) > maxGroups {
		return nil, fmt.Errorf(`"groups" is a list of at most %d names`, maxGroups)
	}
	for _, group := range list {
		if err := policy.CheckGroupName(group); err != nil && strings.TrimSpace(group) != "" {
			return nil, fmt.Errorf(`"groups": %w`, err)
		}
		if err := CheckNoPlaceholder("groups", group); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// The keys of a signal for its sender's account, beside by.
const (
	issuerKey  = "iss"
	subjectKey = "sub"
)

// AddSenderAccount adds the sender's account to the payload of a signal that names its sender.
func AddSenderAccount(payload jsonval.Object, a policy.Account) {
	if a != (policy.Account{}) && jsonval.AsText(payload["by"]) != "" {
		payload[issuerKey], payload[subjectKey] = a.Issuer, a.Subject
	}
}

// commonTextTargets maps the text keys that every signal may have: its id, who sends it, and why.
func commonTextTargets(id, author, reason *string, account *policy.Account) map[string]*string {
	return map[string]*string{signalIDKey: id, "by": author, "reason": reason, issuerKey: &account.Issuer,
		subjectKey: &account.Subject}
}

// readTextFields reads the text keys of a signal's payload into texts, and its groups into groups (nil: the signal
// takes none). others are keys that may hold something else; "" is ignored. Any other key is an error.
func readTextFields(m jsonval.Object, targetByKey map[string]*string, groups *[]string,
	otherKeys ...string) (err error) {
	for k := range jsonval.Sorted(m) {
		if k == "groups" && groups != nil {
			if *groups, err = readGroups(m[k]); err != nil {
				return err
			}
			continue
		}
		target, isText := targetByKey[k]
		if !isText && (k == "" || !slices.Contains(otherKeys, k)) {
			return fmt.Errorf("unknown key %q", jsonval.ClipForError(k))
		}
		if !isText || m[k] == nil {
			continue
		}
		s, ok := m[k].(string)
		if !ok {
			return fmt.Errorf("%q is a string, not %s", k, jsonval.TypeOf(m[k]))
		}
		if err := CheckNoPlaceholder(k, s); err != nil {
			return err
		}
		limit := maxNameOrIDLength
		switch k {
		case issuerKey, subjectKey:
			limit = proof.MaxClaimTextLength
		case "reason":
			limit = maxReasonLength
		case "proof":
			limit = maxProofLength
		}
		if len([]rune(s)) > limit {
			return fmt.Errorf("%q is longer than %d characters", k, limit)
		}
		if k == "by" && strings.TrimSpace(s) != "" {
			if err := policy.CheckPersonName(s); err != nil {
				return fmt.Errorf(`"by": %w`, err)
			}
		}
		*target = s
	}
	return nil
}

// Describe describes the decision for the LLM, so that it does not propose the same again.
func (d Decision) Describe() string {
	s := d.PastTense() + " by " + d.deciderText()
	switch d.Kind {
	case policy.Amend:
		s += " to run with " + jsonval.EncodeToString(d.AmendedParams)
	case policy.Replace:
		s += " with " + jsonval.EncodeToString(d.Replacement)
	}
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	return s
}

// ChangeText says who changed a Call that waits again, and why; empty: the decision did not change it.
func (d Decision) ChangeText() string {
	text := map[string]string{policy.Amend: " has changed it", policy.Replace: " has chosen this instead"}[d.Kind]
	if text == "" {
		return ""
	}
	if text = d.deciderText() + text; d.Reason != "" {
		text += ": " + d.Reason
	}
	return text
}

// PastTense is the verb of the decision for use in a sentence.
func (d Decision) PastTense() string {
	return map[string]string{
		policy.Approve: "approved", policy.Reject: "rejected", policy.Amend: "amended", policy.Replace: "replaced",
		policy.Answer: "answered",
	}[d.Kind]
}

func (d Decision) deciderText() string {
	name := DeputyText(cmp.Or(d.DecidedBy, "a person"), d.OnBehalfOf)
	if d.StandingOrderID != "" {
		name += " (standing order " + d.StandingOrderID + ")"
	}
	return name
}
