package ideafile

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// The types of Messages.
const (
	TypeText        = "text"
	TypeInput       = "input"
	TypeState       = "state"
	TypeData        = "data"
	TypePlan        = "plan"
	TypeInstruction = "instruction"
	TypeError       = "error"
)

// Message is one entry of an Idea's context. Which fields are set depends on its Type.
type Message struct {
	Type string
	// PayloadKind is the first word of References to the payload: "input", "state", or the `kind` of a data message.
	PayloadKind string
	// InstanceToken is the token of the only instance that sees the Message; empty if all do.
	InstanceToken string
	// Payload is the payload of an input, state or data message.
	Payload any
	// PayloadSchema is the JSON Schema of the payload, now and after every write; nil if there is none.
	PayloadSchema any
	// InstanceEndStatus of a State message is how its instance had ended in an earlier process, and InstanceFault why
	// it had failed.
	InstanceEndStatus InstanceStatus
	InstanceFault     *diag.Fault
	// InstanceStepOutcomes of a State message are the outcomes of the steps of instructions in its instance.
	InstanceStepOutcomes []StepOutcome
	// IsSimulated marks a payload that holds made-up values.
	IsSimulated bool
	// IndexInFile is its index among the messages of the file, malformed ones included.
	IndexInFile int32
	// Text of a text message, or of an instruction. For an instruction from a file, it lacks the steps that are about
	// Tools.
	Text string
	// Instruction is the instruction from a file, with its steps; nil: the instruction is Text alone, or its file is
	// not read.
	Instruction *Instruction
	// InstructionToolNames are the Tools that an instruction is about; empty: the whole Plan.
	InstructionToolNames []string
	// PlanCalls are the Calls of a plan message, as written.
	PlanCalls []WrittenCall
	// PlanStage is the stage of a plan that runs without a Request: PlanStageOptimal or PlanStageComplete; empty: the
	// plan guides the LLM.
	PlanStage string
	// PlanName of a plan.
	PlanName string
	// PlanViewCondition is a JSON Schema over an instance's view: the plan is for the instances whose view fits. nil:
	// for all.
	PlanViewCondition *jsonschema.Schema
	// PlanRecordByCallID of a plan holds the outcomes of its Calls in an earlier process, by their ids.
	PlanRecordByCallID jsonval.Object
	// FallbackInstanceTokens lists the instances in which a plan that ran directly did not suffice, in an earlier
	// process.
	FallbackInstanceTokens []string
	// CallIndexOffset is set for a plan that replaced one that ran directly: the numbers of its Calls begin after this
	// offset.
	CallIndexOffset int
	// PlanOutput of a plan may hold References. It is the process's output if no Request writes one.
	PlanOutput any
	// Source is the Message as it was written.
	Source jsonval.Object
}

func (i *Idea) readContext(v any, ps *diag.Problems) {
	if v == nil {
		return
	}
	list, ok := v.([]any)
	if !ok {
		ps.AddWrongType("$.context", "want a list of messages", v)
		return
	}
	for n, raw := range list {
		m, ok := ReadMessage(raw, fmt.Sprintf("$.context[%d]", n), ps)
		if m.IndexInFile = int32(n); ok { //nolint:gosec // no file has so many
			if len(i.Context) == longContextLength {
				i.Context = slices.Grow(i.Context, len(list)-n)
			}
			i.Context = append(i.Context, m)
		}
		i.checkInstructionTools(m, ps)
	}
}

// longContextLength is the number of messages after which room is made for all: a growing list is in memory twice.
const longContextLength = 1000

// ReadMessage reads one Message. Its problems are added to ps, with their places under path; ok is false if there are
// errors among them.
func ReadMessage(raw any, path string, ps *diag.Problems) (Message, bool) {
	source, ok := raw.(jsonval.Object)
	if !ok {
		ps.AddWrongType(path, "a message is an object", raw)
		return Message{}, false
	}
	m := Message{Source: source}
	errorCountBefore := ps.Errors().Count()
	m.Type, ok = source["type"].(string)
	if !ok {
		ps.Add(path+".type", "a message needs a type: text, input, state, data, plan, instruction or error")
		return m, false
	}
	m.readInstanceToken(path, ps)
	switch m.Type {
	case TypeText:
		m.readText(path, ps)
	case TypeInput, TypeState, TypeData:
		m.readPayload(path, ps)
	case TypePlan:
		m.readPlan(path, ps)
	case TypeInstruction:
		m.readInstruction(path, ps)
	case TypeError:
		m.rejectUnknownKeys(path, ps, "call", "error", "instances")
	default:
		ps.Add(path+".type", "unknown type %q; there are text, input, state, data, plan, instruction and error",
			jsonval.Clip(m.Type, 40))
	}
	return m, ps.Errors().Count() == errorCountBefore
}

func (m *Message) readInstanceToken(path string, ps *diag.Problems) {
	v := m.Source["_instance"]
	if v == nil {
		return
	}
	token, ok := v.(string)
	if !ok {
		ps.AddWrongType(path+"._instance", "want a string", v)
		return
	}
	if err := CheckInstanceToken(token); err != nil {
		ps.Add(path+"._instance", "%s", err)
	}
	m.InstanceToken = token
}

// CheckInstanceToken returns why a text cannot be an instance's token, or nil.
func CheckInstanceToken(token string) error {
	switch {
	case token == "" || len(token) > 200:
		return fmt.Errorf("an instance's token has 1 to 200 bytes")
	case token == "*":
		return fmt.Errorf(`"*" means every instance and cannot name one`)
	case strings.HasPrefix(token, "~"):
		return fmt.Errorf("an instance's token may not begin with ~")
	case strings.ContainsFunc(token, isLineBreakOrControl):
		return fmt.Errorf("an instance's token holds no control characters")
	}
	return nil
}

// isLineBreakOrControl reports whether a character could end the line on which a name is written.
func isLineBreakOrControl(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// checkConfusableTokens adds a problem for each token that people could confuse with another one when they type it.
func (i *Idea) checkConfusableTokens(ps *diag.Problems) {
	var tokenIndex spelling.InstanceTokenIndex
	var visibleFormIndex VisibleFormIndex
	for n, raw := range jsonval.AsList(i.Source["context"]) {
		t, hasToken := jsonval.AsObject(raw)["_instance"].(string)
		if !hasToken {
			continue
		}
		if similarToken := tokenIndex.AddToken(t); similarToken != "" {
			ps.Add(fmt.Sprintf("$.context[%d]._instance", n), "%s", ConfusableTokensError(t, similarToken))
		} else if similarToken := visibleFormIndex.AddToken(t); similarToken != "" {
			ps.Warn(fmt.Sprintf("$.context[%d]._instance", n), "%s", LookalikeTokensError(t, similarToken))
		}
	}
}

// VisibleFormIndex finds tokens that look like others. Its zero value is empty.
type VisibleFormIndex struct{ tokenByVisibleForm map[string]string }

// AddToken adds a token. It returns another one that people cannot tell from it; "" if there is none.
func (v *VisibleFormIndex) AddToken(token string) (lookalike string) {
	if v.tokenByVisibleForm == nil {
		v.tokenByVisibleForm = map[string]string{}
	}
	form := policy.ComparableForm(token)
	if other, exists := v.tokenByVisibleForm[form]; exists && other != token {
		return other
	}
	v.tokenByVisibleForm[form] = token
	return ""
}

// LookalikeTokensError reports that people cannot tell two tokens apart.
func LookalikeTokensError(t, other string) error {
	return fmt.Errorf("%+q looks like %+q, and is another instance: they differ in case, form or invisible characters "+
		"only. Write the token alike if one is meant", t, other)
}

// ConfusableTokensError reports that two tokens have the same spelling at the keyboard.
func ConfusableTokensError(t, other string) error {
	return fmt.Errorf("%q and %q are both typed %s, in ids and at the keyboard: one of them needs another name", t,
		other, spelling.TypeableInstanceToken(t))
}

// WithInstanceTokensNormalized returns messages with each token that people may have typed in another spelling replaced
// by the token itself, if find knows it.
func WithInstanceTokensNormalized(context []any, findToken func(typedToken string) (string, bool)) []any {
	return jsonval.Map(context, func(raw any) any {
		m := jsonval.AsObject(raw)
		typedToken, hasToken := m["_instance"].(string)
		if matchingToken, isKnown := findToken(typedToken); hasToken && isKnown && matchingToken != typedToken {
			return jsonval.WithKey(m, "_instance", matchingToken)
		}
		return raw
	})
}

// rejectUnknownKeys adds a problem for each key that this type of Message does not have.
func (m *Message) rejectUnknownKeys(path string, ps *diag.Problems, keys ...string) {
	for k := range jsonval.Sorted(m.Source) {
		if k != "type" && k != "_instance" && !slices.Contains(keys, k) {
			ps.AddAtKey(path, k, "unknown key %q in a message of type %s%s",
				jsonval.ClipForError(k), m.Type,
				diag.DidYouMean(k, append([]string{"type", "_instance"}, keys...)))
		}
	}
}

func (m *Message) readText(path string, ps *diag.Problems) {
	m.rejectUnknownKeys(path, ps, "text", "title", "description")
	var ok bool
	m.Text, ok = m.Source["text"].(string)
	if !ok {
		ps.AddWrongType(path+".text", "want a string", m.Source["text"])
	}
}

// readPayload reads the payload: the value under the key of the message's type or, without that key, the message's own
// keys. Both together are an error.
func (m *Message) readPayload(path string, ps *diag.Problems) {
	m.PayloadKind = m.Type
	if m.Type == TypeData {
		kind, ok := m.Source["kind"].(string)
		if !ok || kind == "" || strings.ContainsAny(kind, ".[]†| &") ||
			strings.ContainsFunc(kind, isLineBreakOrControl) {
			ps.Add(path+".kind", "a data message needs a kind, a plain name")
			return
		}
		m.PayloadKind = kind
		if kind == TypeState || kind == TypeInput {
			m.Type = kind
		}
	}
	otherMembers := jsonval.WithoutKey(m.Source, "type", "kind", "_instance", "schema")
	m.Payload = any(otherMembers)
	payloadKey := m.PayloadKey()
	for k := range jsonval.Sorted(otherMembers) {
		if suggestion := diag.DidYouMean(k, messageMetaKeys[:1]); payloadKey == "" && strings.HasPrefix(k, "_") &&
			suggestion != "" {
			ps.AddAtKey(path, k, "a message has no meta property %q%s", jsonval.ClipForError(k), suggestion)
		}
	}
	if _, isObject := otherMembers[TypeData].(jsonval.Object); payloadKey == "" && isObject {
		ps.AddAtKey(path, TypeData,
			"the message has a payload as %q and other keys beside it: move them into it, or everything under %q",
			TypeData, m.PayloadKind)
	}
	if payloadKey != "" {
		m.readKeyedPayload(payloadKey, otherMembers, path, ps)
	}
	if m.PayloadKind == TypeState && jsonval.TypeOf(m.Payload) != "object" {
		ps.AddWrongType(path+"."+TypeState, "State is an object", m.Payload)
	}
	if m.PayloadSchema = m.Source["schema"]; m.PayloadSchema != nil {
		jsonschema.CompileReportingProblems(m.PayloadSchema, path+".schema", ps)
	}
}

// messageMetaKeys are the keys that describe a payload. Beside a flat payload, only the first one does: the others are
// part of the payload.
var messageMetaKeys = []string{"_instance", InstanceStatusKey, InstanceFaultKey, StepOutcomesKey}

// PayloadKey returns the key of the payload in an input, state or data message: its kind, or "data". It is empty if the
// message's own keys are the payload.
func (m Message) PayloadKey() string {
	if _, ok := m.Source[m.PayloadKind]; ok {
		return m.PayloadKind
	}
	payload, ok := m.Source[TypeData]
	if m.Source["type"] == TypeData || !ok {
		if ok {
			return TypeData
		}
		return ""
	}
	if _, isObject := payload.(jsonval.Object); !isObject {
		return "" // a key like others
	}
	if otherMembers := jsonval.WithoutKey(m.Source, TypeData, "type", "kind", "_instance", "schema", "title",
		"description", InstanceStatusKey, InstanceFaultKey, StepOutcomesKey,
		SimulatedMessageKey); len(otherMembers) > 0 {
		return ""
	}
	return TypeData
}

// readKeyedPayload reads the payload under a key. Beside it the message may have only keys that describe it.
func (m *Message) readKeyedPayload(key string, siblings jsonval.Object, path string, ps *diag.Problems) {
	m.Payload = m.Source[key]
	m.IsSimulated = siblings[SimulatedMessageKey] == true
	delete(siblings, SimulatedMessageKey)
	m.readInstanceEndStatus(siblings, path, ps)
	for k := range jsonval.Sorted(siblings) {
		switch {
		case k == key || k == "title" || k == "description":
		case strings.HasPrefix(k, "_"):
			ps.AddAtKey(path, k, "a message has no meta property %q%s", jsonval.ClipForError(k),
				diag.DidYouMean(k, messageMetaKeys))
		default:
			ps.AddAtKey(path, k, "the message has its payload both as %q and in its own "+
				"keys: keep one of them", key)
		}
	}
}

// Keys of a State message whose payload has a key of its own: how its instance had ended in an earlier process.
const (
	InstanceStatusKey = "_status"
	InstanceFaultKey  = "_error"
	StepOutcomesKey   = "_steps" // outcomes of the steps of instructions
)

// recordedInstanceStatuses are the values that InstanceStatusKey may have.
var recordedInstanceStatuses = []InstanceStatus{InstanceWorking, InstanceSettled, InstanceFailed, InstanceUndoFailed,
	InstanceForgotten}

// readInstanceEndStatus reads InstanceStatusKey, InstanceFaultKey and StepOutcomesKey from the keys beside the payload,
// and removes them there.
func (m *Message) readInstanceEndStatus(siblings jsonval.Object, path string, ps *diag.Problems) {
	if m.PayloadKind != TypeState {
		return
	}
	if v, ok := siblings[InstanceStatusKey]; ok {
		m.InstanceEndStatus = InstanceStatus(jsonval.AsText(v))
		if !slices.Contains(recordedInstanceStatuses, m.InstanceEndStatus) {
			ps.AddAtKey(path, InstanceStatusKey, "want working, settled, failed, undo-failed or forgotten")
		}
	}
	e := jsonval.AsObject(siblings[InstanceFaultKey])
	code, isCode := e["code"].(string)
	text, isText := e["message"].(string)
	if isCode && isText {
		m.InstanceFault = &diag.Fault{Code: code, Message: text}
	}
	m.InstanceStepOutcomes = readStepOutcomes(siblings[StepOutcomesKey])
	for _, k := range []string{InstanceStatusKey, InstanceFaultKey, StepOutcomesKey} {
		delete(siblings, k)
	}
}

func (m *Message) readPlan(path string, ps *diag.Problems) {
	m.rejectUnknownKeys(path, ps, "plan", "name", "title", "description", "record", "output", "stage", "when",
		FallbackInstanceTokensKey, CallIndexOffsetKey)
	m.readDirectPlanKeys(path, ps)
	calls, ok := m.Source["plan"].([]any)
	if !ok {
		ps.AddWrongType(path+".plan", "want a list of calls", m.Source["plan"])
	}
	m.PlanCalls = ParseWrittenCalls(calls)
}

func (m *Message) readInstruction(path string, ps *diag.Problems) {
	if m.Source[InstructionFileKey] != nil {
		m.readInstructionFromContent(path, ps)
		return
	}
	m.rejectUnknownKeys(path, ps, "instruction", "tools", "title", "description", InstructionFileKey)
	switch v := m.Source["instruction"].(type) {
	case string:
		m.Text = v
	case nil:
		ps.Add(path+".instruction", "an instruction message needs its instruction, or the file that has it")
	default:
		m.Text = jsonval.EncodeToString(v)
		if content := jsonval.AsObject(v); content["steps"] != nil || content[InstructionContentKey] != nil {
			ps.Warn(path+".instruction", "its steps are text for the LLM, and nothing checks them: that takes a %q "+
				"beside it, a name for the instruction", InstructionFileKey)
		}
	}
	if tools := m.Source["tools"]; tools != nil {
		var ok bool
		if m.InstructionToolNames, ok = jsonval.AsStringList(tools); !ok {
			ps.Add(path+".tools", "want a list of tools' names")
		}
	}
}

// IsStagelessPlanWithRecord reports whether the Message is the Plan of an earlier process with a record of its Calls'
// outcomes. A Plan with a stage does not count: its record is read when that Plan runs.
func (m Message) IsStagelessPlanWithRecord() bool {
	return m.Type == TypePlan && m.Source["stage"] == nil && jsonval.TypeOf(m.Source["record"]) == "object"
}

// EncodePayloadMessage returns an input, state or data Message as a file has it.
func EncodePayloadMessage(m Message) jsonval.Object {
	out := jsonval.Object{"type": m.PayloadKind, m.PayloadKind: m.Payload}
	if m.PayloadKind != TypeState && m.PayloadKind != TypeInput {
		out = jsonval.Object{"type": TypeData, "kind": m.PayloadKind, TypeData: m.Payload}
	}
	if m.InstanceToken != "" {
		out["_instance"] = m.InstanceToken
	}
	if m.PayloadSchema != nil {
		out["schema"] = m.PayloadSchema
	}
	return out
}

// ParseMessage reads one Message whose problems are reported elsewhere; ok is false if there are any.
func ParseMessage(raw any) (m Message, ok bool) { return ReadMessage(raw, "", new(diag.Problems)) }
