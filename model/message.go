package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
	Fault  *Fault
	// Simulated marks a payload of which something was made up.
	Simulated bool
	// Text of a text message, or of an instruction that is text.
	Text string
	// Tools that an instruction is attached to; empty: the whole Plan.
	Tools []string
	// Calls of a plan message, as written.
	Calls []any
	// Stage of a plan that runs with no Request: StageOptimal or StageComplete; empty: it guides the LLM.
	Stage string
	// Name of a plan, and When, over what an instance sees, it is meant for it; nil: always.
	Name string
	When *Schema
	// Record says of a plan's Calls, by their ids, what became of them before.
	Record map[string]any
	// Output of a plan, with References, is the process's where no Request gives one.
	Output any
	// Source is the Message as it was written.
	Source map[string]any
}

func (i *Idea) readContext(v any, ps *Problems) {
	if v == nil {
		return
	}
	list, ok := v.([]any)
	if !ok {
		ps.add("$.context", "want a list of messages, not %s", TypeOf(v))
		return
	}
	for n, raw := range list {
		if m, ok := ReadMessage(raw, fmt.Sprintf("$.context[%d]", n), ps); ok {
			i.Context = append(i.Context, m)
		}
	}
}

// ReadMessage reads one Message; what is wrong with it goes to ps under path.
func ReadMessage(raw any, path string, ps *Problems) (Message, bool) {
	source, ok := raw.(map[string]any)
	if !ok {
		ps.add(path, "a message is an object, not %s", TypeOf(raw))
		return Message{}, false
	}
	m := Message{Source: source}
	before := len(*ps)
	m.Type, ok = source["type"].(string)
	if !ok {
		ps.add(path+".type", "a message says its type: text, input, state, data, plan, instruction or error")
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
		m.only(path, ps, "call", "error", "instances")
	default:
		ps.add(path+".type", "unknown type %q; there are text, input, state, data, plan, instruction and error", Clip(m.Type, 40))
	}
	return m, len(*ps) == before
}

func (m *Message) readInstance(path string, ps *Problems) {
	v, ok := m.Source["_instance"]
	if !ok || v == nil {
		return
	}
	token, ok := v.(string)
	if !ok {
		ps.add(path+"._instance", "want a string, not %s", TypeOf(v))
		return
	}
	if err := CheckToken(token); err != nil {
		ps.add(path+"._instance", "%s", err)
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

// only reports keys that this type of Message does not have.
func (m *Message) only(path string, ps *Problems, keys ...string) {
	for _, k := range sortedKeys(m.Source) {
		if k != "type" && k != "_instance" && !slices.Contains(keys, k) {
			ps.add(joinJSONPath(path, k), "unknown key %q in a message of type %s", k, m.Type)
		}
	}
}

func (m *Message) readText(path string, ps *Problems) {
	m.only(path, ps, "text", "title", "description")
	var ok bool
	if m.Text, ok = m.Source["text"].(string); !ok {
		ps.add(path+".text", "want a string, not %s", TypeOf(m.Source["text"]))
	}
}

// readPayload takes the payload from under the key of the message's type, or from the flat message, never from both.
func (m *Message) readPayload(path string, ps *Problems) {
	m.Kind = m.Type
	if m.Type == TypeData {
		kind, ok := m.Source["kind"].(string)
		if !ok || kind == "" || strings.ContainsAny(kind, ".[]†| &") {
			ps.add(path+".kind", "a data message says its kind, a plain name")
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
	if under, ok := m.Source[m.Type]; ok {
		m.Payload = under
		m.Simulated = flat[messageSimulated] == true
		delete(flat, messageSimulated)
		m.readEnd(flat, path, ps)
		for _, k := range sortedKeys(flat) {
			if k != m.Type && k != "title" && k != "description" {
				ps.add(joinJSONPath(path, k), "the payload stands under %q and flat at once", m.Type)
			}
		}
	}
	if m.Kind == TypeState && TypeOf(m.Payload) != "object" {
		ps.add(joinJSONPath(path, TypeState), "State is an object, not %s", TypeOf(m.Payload))
	}
	m.readPayloadSchema(path, ps)
}

// Keys of a State message, beside a payload under its own key, that say how its instance had ended.
const (
	messageStatus = "_status"
	messageFault  = "_error"
)

// readEnd takes out of a State message how its instance had ended.
func (m *Message) readEnd(beside map[string]any, path string, ps *Problems) {
	if m.Kind != TypeState {
		return
	}
	if v, ok := beside[messageStatus]; ok {
		s, _ := v.(string)
		if m.Status = InstanceStatus(s); !slices.Contains([]string{string(InstanceWorking), string(InstanceSettled), string(InstanceFailed)}, s) {
			ps.add(joinJSONPath(path, messageStatus), "want working, settled or failed")
		}
	}
	e := asObject(beside[messageFault])
	code, isCode := e["code"].(string)
	text, isText := e["message"].(string)
	if isCode && isText {
		m.Fault = &Fault{Code: code, Message: text}
	}
	delete(beside, messageStatus)
	delete(beside, messageFault)
}

func (m *Message) readPayloadSchema(path string, ps *Problems) {
	m.Schema = m.Source["schema"]
	if m.Schema == nil {
		return
	}
	if _, err := CompileSchema(m.Schema); err != nil {
		ps.add(path+".schema", "%s", strings.TrimPrefix(err.Error(), "model: "))
	}
}

func (m *Message) readPlan(path string, ps *Problems) {
	m.only(path, ps, "plan", "name", "title", "description", "record", "output", "stage", "when")
	m.readStage(path, ps)
	var ok bool
	if m.Calls, ok = m.Source["plan"].([]any); !ok {
		ps.add(path+".plan", "want a list of calls, not %s", TypeOf(m.Source["plan"]))
	}
}

func (m *Message) readInstruction(path string, ps *Problems) {
	m.only(path, ps, "instruction", "tools", "title", "description")
	switch v := m.Source["instruction"].(type) {
	case string:
		m.Text = v
	case nil:
		ps.add(path+".instruction", "an instruction message says its instruction")
	default:
		m.Text = string(Encode(v))
	}
	tools, ok := m.Source["tools"]
	if !ok || tools == nil {
		return
	}
	list, ok := stringList(tools)
	if !ok {
		ps.add(path+".tools", "want a list of tools' names")
	}
	m.Tools = list
}

func stringList(v any) ([]string, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]string, len(list))
	for i, e := range list {
		if out[i], ok = e.(string); !ok {
			return nil, false
		}
	}
	return out, true
}

func floatOf(v any) (float64, error) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, fmt.Errorf("want a number, not %s", TypeOf(v))
	}
	return n.Float64()
}

// View is what one instance sees: the payload and the schema of every kind, by kind.
type View struct {
	Payload map[string]any
	Schema  map[string]any
}

// ViewOf lays an instance's own messages over the shared ones, top-level key by top-level key.
func ViewOf(context []Message, token string) View {
	shared, own := collect(context, ""), View{}
	if token == "" {
		return shared
	}
	own = collect(context, token)
	for _, kind := range sortedKeys(own.Payload) {
		shared.Payload[kind] = overlay(shared.Payload[kind], own.Payload[kind])
	}
	for _, kind := range sortedKeys(own.Schema) {
		shared.Schema[kind] = own.Schema[kind]
	}
	return shared
}

// collect merges the messages of one owner, kind by kind, as patches.
func collect(context []Message, owner string) View {
	v := View{Payload: map[string]any{}, Schema: map[string]any{}}
	for _, m := range context {
		if m.Instance != owner || m.Kind == "" {
			continue
		}
		if before, ok := v.Payload[m.Kind]; ok {
			v.Payload[m.Kind] = Merge(before, m.Payload)
		} else {
			v.Payload[m.Kind] = m.Payload
		}
		if m.Schema != nil {
			v.Schema[m.Kind] = m.Schema
		}
	}
	return v
}

// Merge lays b over a: objects deeply, anything else as a whole.
func Merge(a, b any) any { return lay(a, b, Merge) }

// overlay lays b over a, whole top-level keys.
func overlay(a, b any) any { return lay(a, b, func(_, v any) any { return v }) }

// lay lays one object over another; join decides what becomes of a key that both have. What is no object replaces.
func lay(a, b any, join func(old, new any) any) any {
	am, aok := a.(map[string]any)
	bm, bok := b.(map[string]any)
	if !aok || !bok {
		return b
	}
	out := make(map[string]any, len(am)+len(bm))
	//workflowcheck:ignore -- a map again
	for k, v := range am {
		out[k] = v
	}
	//workflowcheck:ignore -- a map again
	for k, v := range bm {
		if before, ok := out[k]; ok {
			v = join(before, v)
		}
		out[k] = v
	}
	return out
}
