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

// Message is one entry of an Idea's context.
type Message struct {
	Type string
	// Kind is what References call the payload: "input", "state", or the kind of a data message.
	Kind string
	// Instance is the token of the only instance that sees the Message; empty where all do.
	Instance string
	// Payload of an input, state or data message.
	Payload any
	// Schema describes the payload as it may become; nil where nothing is said.
	Schema any
	// Status says of a State message that its instance had settled or failed, and Fault why it failed.
	Status InstanceStatus
	Fault  *diag.Fault
	// Simulated marks a payload of which something was made up.
	Simulated bool
	// Text of a text message, or of an instruction that is text.
	Text string
	// Tools that an instruction is attached to; empty: the whole Plan.
	Tools []string
	// Calls of a plan message, as written.
	Calls []WrittenCall
	// Stage of a plan that runs with no Request: StageOptimal or StageComplete; empty: it guides the LLM.
	Stage string
	// Name of a plan, and When, over what an instance sees, it is meant for it; nil: always.
	Name string
	When *jsonschema.Schema
	// Record says of a plan's Calls, by their ids, what became of them before.
	Record map[string]any
	// Output of a plan, with References, is the process's where no Request gives one.
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

// ReadMessage reads one Message; what is wrong with it goes to ps under path.
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

// CheckToken says what is wrong with an instance's name.
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

// rejectUnknownKeys reports keys that this type of Message does not have.
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
	if m.Text, ok = m.Source["text"].(string); !ok {
		ps.Add(path+".text", "want a string, not %s", jsonval.TypeOf(m.Source["text"]))
	}
}

// readPayload takes the payload from under the key of the message's type, or from the flat message, never from both.
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

// Keys of a State message, beside a payload under its own key, that say how its instance had ended.
const (
	StatusKey = "_status"
	FaultKey  = "_error"
)

// readInstanceEnd takes out of a State message how its instance had ended.
func (m *Message) readInstanceEnd(siblings map[string]any, path string, ps *diag.Problems) {
	if m.Kind != TypeState {
		return
	}
	if v, ok := siblings[StatusKey]; ok {
		s, _ := v.(string)
		if m.Status = InstanceStatus(s); !slices.Contains([]string{string(InstanceWorking), string(InstanceSettled), string(InstanceFailed)}, s) {
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
	if m.Schema == nil {
		return
	}
	if _, err := jsonschema.CompileSchema(m.Schema); err != nil {
		ps.Add(path+".schema", "%s", strings.TrimPrefix(err.Error(), "model: "))
	}
}

func (m *Message) readPlan(path string, ps *diag.Problems) {
	m.rejectUnknownKeys(path, ps, "plan", "name", "title", "description", "record", "output", "stage", "when")
	m.readStage(path, ps)
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

// View is what one instance sees: the payload and the schema of every kind, by kind.
type View struct {
	Payload map[string]any
	Schema  map[string]any
}

// ViewOf lays an instance's own messages over the shared ones, top-level key by top-level key.
func ViewOf(context []Message, token string) View {
	shared, own := MergeMessages(context, ""), View{}
	if token == "" {
		return shared
	}
	own = MergeMessages(context, token)
	for _, kind := range jsonval.SortedKeys(own.Payload) {
		shared.Payload[kind] = jsonval.Overlay(shared.Payload[kind], own.Payload[kind])
	}
	for _, kind := range jsonval.SortedKeys(own.Schema) {
		shared.Schema[kind] = own.Schema[kind]
	}
	return shared
}

// collect merges the messages of one owner, kind by kind, as patches.
func MergeMessages(context []Message, owner string) View {
	v := View{Payload: map[string]any{}, Schema: map[string]any{}}
	for _, m := range context {
		if m.Instance != owner || m.Kind == "" {
			continue
		}
		if merged, ok := v.Payload[m.Kind]; ok {
			v.Payload[m.Kind] = jsonval.Merge(merged, m.Payload)
		} else {
			v.Payload[m.Kind] = m.Payload
		}
		if m.Schema != nil {
			v.Schema[m.Kind] = m.Schema
		}
	}
	return v
}

// isRecord says whether a message is a Plan with a record of what became of its Calls. One that runs by itself has a stage,
// and its record is read where it runs.
func (m Message) IsPlanRecord() bool {
	return m.Type == TypePlan && m.Source["stage"] == nil && jsonval.TypeOf(m.Source["record"]) == "object"
}
