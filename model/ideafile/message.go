package ideafile

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
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
	// Kind is the first word of References to the payload: "input", "state", or the `kind` of a data message.
	Kind string
	// Instance is the token of the only instance that sees the Message; empty if all do.
	Instance string
	// Payload of an input, state or data message.
	Payload any
	// Schema is the JSON Schema of the payload, now and after every write; nil if there is none.
	Schema any
	// Status of a State message is how its instance had ended in an earlier process, and Fault why it had failed.
	Status InstanceStatus
	Fault  *diag.Fault
	// Simulated marks a payload that holds made-up values.
	Simulated bool
	// Text of a text message, or of an instruction that is text.
	Text string
	// Tools are those that an instruction is about; empty: the whole Plan.
	Tools []string
	// Calls of a plan message, as written.
	Calls []WrittenCall
	// Stage of a plan that runs without a Request: StageOptimal or StageComplete; empty: it guides the LLM.
	Stage string
	// Name of a plan.
	Name string
	// When is a JSON Schema over an instance's view: the plan is for the instances whose view fits. nil: for all.
	When *jsonschema.Schema
	// Record of a plan is what became of its Calls in an earlier process, by their ids.
	Record map[string]any
	// Output of a plan may hold References. It is the process's output if no Request writes one.
	Output any
	// Source is the Message as it was written.
	Source map[string]any
}

func (i *Idea) readContext(v any, ps *diag.Problems) {
	if v == nil {
		return
	}
	list, ok := v.([]any)
	if !ok {
		ps.Add("$.context", "want a list of messages, not %s", jsonval.TypeOf(v))
		return
	}
	for n, raw := range list {
		if m, ok := ReadMessage(raw, fmt.Sprintf("$.context[%d]", n), ps); ok {
			i.Context = append(i.Context, m)
		}
	}
}

// ReadMessage reads one Message. Its problems are added to ps, with their places under path; ok is false if there are any.
func ReadMessage(raw any, path string, ps *diag.Problems) (Message, bool) {
	source, ok := raw.(map[string]any)
	if !ok {
		ps.Add(path, "a message is an object, not %s", jsonval.TypeOf(raw))
		return Message{}, false
	}
	m := Message{Source: source}
	problemsBefore := len(*ps)
	m.Type, ok = source["type"].(string)
	if !ok {
		ps.Add(path+".type", "a message says its type: text, input, state, data, plan, instruction or error")
		return m, false
	}
	m.readInstance(path, ps)
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
		ps.Add(path+".type", "unknown type %q; there are text, input, state, data, plan, instruction and error", jsonval.Clip(m.Type, 40))
	}
	return m, len(*ps) == problemsBefore
}

func (m *Message) readInstance(path string, ps *diag.Problems) {
	v, ok := m.Source["_instance"]
	if !ok || v == nil {
		return
	}
	token, ok := v.(string)
	if !ok {
		ps.Add(path+"._instance", "want a string, not %s", jsonval.TypeOf(v))
		return
	}
	if err := CheckToken(token); err != nil {
		ps.Add(path+"._instance", "%s", err)
	}
	m.Instance = token
}

// CheckToken returns why a text cannot be an instance's token, or nil.
func CheckToken(token string) error {
	switch {
	case token == "" || len(token) > 200:
		return fmt.Errorf("an instance's token has 1 to 200 bytes")
	case token == "*":
		return fmt.Errorf(`"*" means every instance and cannot name one`)
	case strings.HasPrefix(token, "~"):
		return fmt.Errorf("an instance's token may not begin with ~")
	case strings.ContainsAny(token, "\n\r\t\x00"):
		return fmt.Errorf("an instance's token holds no control characters")
	}
	return nil
}

// rejectUnknownKeys adds a problem for each key that this type of Message does not have.
func (m *Message) rejectUnknownKeys(path string, ps *diag.Problems, keys ...string) {
	for _, k := range jsonval.SortedKeys(m.Source) {
		if k != "type" && k != "_instance" && !slices.Contains(keys, k) {
			ps.Add(jsonval.JSONPathKey(path, k), "unknown key %q in a message of type %s", k, m.Type)
		}
	}
}

func (m *Message) readText(path string, ps *diag.Problems) {
	m.rejectUnknownKeys(path, ps, "text", "title", "description")
	var ok bool
	m.Text, ok = m.Source["text"].(string)
	if !ok {
		ps.Add(path+".text", "want a string, not %s", jsonval.TypeOf(m.Source["text"]))
	}
}

// readPayload reads the payload: the value under the key of the message's type or, if there is none, the message's own keys. Both
// together are an error.
func (m *Message) readPayload(path string, ps *diag.Problems) {
	m.Kind = m.Type
	if m.Type == TypeData {
		kind, ok := m.Source["kind"].(string)
		if !ok || kind == "" || strings.ContainsAny(kind, ".[]†| &") {
			ps.Add(path+".kind", "a data message says its kind, a plain name")
			return
		}
		m.Kind = kind
		if kind == TypeState || kind == TypeInput {
			m.Type = kind
		}
	}
	flat := map[string]any{}
	//workflowcheck:ignore -- a map again
	for k, v := range m.Source {
		if k != "type" && k != "kind" && k != "_instance" && k != "schema" {
			flat[k] = v
		}
	}
	m.Payload = any(flat)
	if payload, ok := m.Source[m.Type]; ok {
		m.Payload = payload
		m.Simulated = flat[SimulatedKey] == true
		delete(flat, SimulatedKey)
		m.readInstanceEnd(flat, path, ps)
		for _, k := range jsonval.SortedKeys(flat) {
			if k != m.Type && k != "title" && k != "description" {
				ps.Add(jsonval.JSONPathKey(path, k), "the payload stands under %q and flat at once", m.Type)
			}
		}
	}
	if m.Kind == TypeState && jsonval.TypeOf(m.Payload) != "object" {
		ps.Add(jsonval.JSONPathKey(path, TypeState), "State is an object, not %s", jsonval.TypeOf(m.Payload))
	}
	m.readPayloadSchema(path, ps)
}

// Keys of a State message whose payload stands under its own key: how its instance had ended in an earlier process.
const (
	StatusKey = "_status"
	FaultKey  = "_error"
)

// endStatuses are the values that StatusKey may have.
var endStatuses = []InstanceStatus{InstanceWorking, InstanceSettled, InstanceFailed}

// readInstanceEnd reads StatusKey and FaultKey from the keys beside the payload, and removes them there.
func (m *Message) readInstanceEnd(siblings map[string]any, path string, ps *diag.Problems) {
	if m.Kind != TypeState {
		return
	}
	if v, ok := siblings[StatusKey]; ok {
		s, _ := v.(string)
		m.Status = InstanceStatus(s)
		if !slices.Contains(endStatuses, m.Status) {
			ps.Add(jsonval.JSONPathKey(path, StatusKey), "want working, settled or failed")
		}
	}
	e := jsonval.AsObject(siblings[FaultKey])
	code, isCode := e["code"].(string)
	text, isText := e["message"].(string)
	if isCode && isText {
		m.Fault = &diag.Fault{Code: code, Message: text}
	}
	delete(siblings, StatusKey)
	delete(siblings, FaultKey)
}

func (m *Message) readPayloadSchema(path string, ps *diag.Problems) {
	m.Schema = m.Source["schema"]
	if m.Schema != nil {
		compileSchema(m.Schema, path+".schema", ps)
	}
}

func (m *Message) readPlan(path string, ps *diag.Problems) {
	m.rejectUnknownKeys(path, ps, "plan", "name", "title", "description", "record", "output", "stage", "when")
	m.readDirectPlanKeys(path, ps)
	calls, ok := m.Source["plan"].([]any)
	if !ok {
		ps.Add(path+".plan", "want a list of calls, not %s", jsonval.TypeOf(m.Source["plan"]))
	}
	m.Calls = ParseWrittenCalls(calls)
}

func (m *Message) readInstruction(path string, ps *diag.Problems) {
	m.rejectUnknownKeys(path, ps, "instruction", "tools", "title", "description")
	switch v := m.Source["instruction"].(type) {
	case string:
		m.Text = v
	case nil:
		ps.Add(path+".instruction", "an instruction message says its instruction")
	default:
		m.Text = string(jsonval.Encode(v))
	}
	tools, ok := m.Source["tools"]
	if !ok || tools == nil {
		return
	}
	list, ok := jsonval.StringList(tools)
	if !ok {
		ps.Add(path+".tools", "want a list of tools' names")
	}
	m.Tools = list
}

// IsPlanRecord reports whether the Message is the Plan of an earlier process with a record of what became of its Calls. The record of a
// Plan with a stage is something else: it is read where that Plan runs.
func (m Message) IsPlanRecord() bool {
	return m.Type == TypePlan && m.Source["stage"] == nil && jsonval.TypeOf(m.Source["record"]) == "object"
}
