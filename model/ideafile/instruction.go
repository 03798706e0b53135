package ideafile

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// Keys of an instruction message that takes its text and steps from a file. The message has the content beside the
// file's name, so that it keeps the version with which the process was started.
const (
	InstructionFileKey    = "file"
	InstructionContentKey = "instruction"
)

// Instruction is an Idea of its own: a text and steps that Plans must heed.
type Instruction struct {
	FilePath string // as the message names it
	Version  string // for people (`meta.version`)
	Text     string
	Steps    []InstructionStep
}

// InstructionStep is one rule of an Instruction.
type InstructionStep struct {
	ID, Text string
	// ToolNames are the Tools that the step is about; empty: the whole Plan.
	ToolNames []string
	// ViewCondition is a JSON Schema over an instance's view; nil: the step always applies.
	ViewCondition *jsonschema.Schema
	// EvidenceSchema is a JSON Schema over State and Calls that holds if the step is fulfilled; nil: the step is not
	// checked.
	EvidenceSchema *jsonschema.Schema
}

// UnreadInstructionFile returns the file of an instruction message that does not carry its content; "" for any other
// message.
func UnreadInstructionFile(raw any) string {
	m := jsonval.AsObject(raw)
	if m["type"] != TypeInstruction || m[InstructionContentKey] != nil {
		return ""
	}
	return jsonval.AsText(m[InstructionFileKey])
}

// readInstructionFromContent reads an instruction from its file's content. Without content, it waits to be filled in.
func (m *Message) readInstructionFromContent(jsonPath string, ps *diag.Problems) {
	m.rejectUnknownKeys(jsonPath, ps, InstructionFileKey, InstructionContentKey, "title", "description")
	filePath, ok := m.Source[InstructionFileKey].(string)
	if !ok || filePath == "" || strings.ContainsFunc(filePath, isLineBreakOrControl) {
		ps.Add(jsonPath+"."+InstructionFileKey, "want the path of an instruction's file")
		return
	}
	content := m.Source[InstructionContentKey]
	if content == nil {
		return
	}
	var fileProblems diag.Problems
	m.Instruction = parseInstructionFile(filePath, content, &fileProblems)
	ps.AppendNew(fileProblems...) // another message may name the file, too
	m.Text = m.Instruction.textForTool("")
}

// parseInstructionFile reads the content of an instruction's file. Its problems have their places in that file.
func parseInstructionFile(filePath string, content any, ps *diag.Problems) *Instruction {
	i, jsonPath := &Instruction{FilePath: filePath}, filePath+": $"
	source, ok := content.(jsonval.Object)
	if !ok {
		ps.AddWrongType(jsonPath, "an instruction's file is an object", content)
		return i
	}
	rejectKeysExcept(source, jsonPath, ps, "an instruction's file", "$schema", "meta", InstructionContentKey)
	meta := diag.ReadObject(source, "meta", jsonPath, ps)
	rejectKeysExcept(meta, jsonPath+".meta", ps, "the meta of an instruction", "path", "version")
	diag.ReadOptionalText(meta, "path", jsonPath+".meta", ps)
	i.Version = diag.ReadOptionalText(meta, "version", jsonPath+".meta", ps)
	jsonPath += "." + InstructionContentKey
	body, ok := source[InstructionContentKey].(jsonval.Object)
	if !ok {
		ps.AddWrongType(jsonPath, "an instruction's file has an object here, with text and steps",
			source[InstructionContentKey])
		return i
	}
	rejectKeysExcept(body, jsonPath, ps, "an instruction", "text", "steps")
	i.Text = diag.ReadOptionalText(body, "text", jsonPath, ps)
	i.readSteps(body["steps"], jsonPath+".steps", ps)
	if strings.TrimSpace(i.Text) == "" && len(i.Steps) == 0 {
		ps.Add(jsonPath, "it is empty: an instruction has a text, steps, or both")
	}
	return i
}

func (i *Instruction) readSteps(v any, path string, ps *diag.Problems) {
	list, ok := v.([]any)
	if !ok && v != nil {
		ps.AddWrongType(path, "want a list of steps", v)
	}
	for n, raw := range list {
		s, stepPath := InstructionStep{}, fmt.Sprintf("%s[%d]", path, n)
		if step, ok := raw.(jsonval.Object); ok {
			s.read(step, stepPath, ps)
		} else {
			ps.AddWrongType(stepPath, "a step is an object with id and text", raw)
		}
		if s.ID != "" && slices.ContainsFunc(i.Steps, func(o InstructionStep) bool { return o.ID == s.ID }) {
			ps.Add(stepPath+".id", "there are two steps %q", jsonval.ClipForError(s.ID))
		}
		i.Steps = append(i.Steps, s)
	}
}

func (s *InstructionStep) read(source jsonval.Object, path string, ps *diag.Problems) {
	rejectKeysExcept(source, path, ps, "a step", "id", "text", "tools", "when", "require")
	s.ID, s.Text = jsonval.AsText(source["id"]), jsonval.AsText(source["text"])
	if s.ID == "" || len(s.ID) > 200 || strings.ContainsFunc(s.ID, isLineBreakOrControl) {
		ps.Add(path+".id", "a step has an id of 1 to 200 bytes, without control characters")
	}
	if strings.TrimSpace(s.Text) == "" {
		ps.Add(path+".text", "a step has a text")
	}
	if v := source["tools"]; v != nil {
		if s.ToolNames, _ = jsonval.AsStringList(v); len(s.ToolNames) == 0 {
			ps.Add(path+".tools", "want a list of tools' names")
		}
	}
	if v := source["when"]; v != nil {
		s.ViewCondition = jsonschema.CompileReportingProblems(v, path+".when", ps)
	}
	if v := source["require"]; v != nil {
		s.EvidenceSchema = jsonschema.CompileReportingProblems(v, path+".require", ps)
		warnOfUnknownEvidence(v, path+".require", ps)
	}
}

// warnOfUnknownEvidence warns of each name in a `require` that evidence never has: a misspelt name makes the schema
// hold always, or never.
func warnOfUnknownEvidence(evidenceSchema any, path string, ps *diag.Problems) {
	names := evidenceMemberNames(evidenceSchema)
	for n, name := range names {
		if !slices.Contains(evidenceKeys, name) && slices.Index(names, name) == n {
			ps.Warn(path, "it is held against state and calls alone, and never finds %q%s", jsonval.ClipForError(name),
				diag.DidYouMean(name, evidenceKeys))
		}
	}
}

// evidenceMemberNames lists the names that a schema over evidence has for its members, also in alternatives and
// conditions.
func evidenceMemberNames(evidenceSchema any) (names []string) {
	for _, part := range jsonschema.PartsInPlace(evidenceSchema) {
		names = slices.Concat(names, jsonval.SortedKeys(jsonschema.Properties(part)), jsonschema.Required(part))
	}
	return names
}

// rejectKeysExcept adds a problem for each key that a part of a file does not have.
func rejectKeysExcept(source jsonval.Object, path string, ps *diag.Problems, subject string, allowedKeys ...string) {
	for k := range jsonval.Sorted(source) {
		if !slices.Contains(allowedKeys, k) {
			ps.AddAtKey(path, k, "unknown key %q; %s has %s%s", jsonval.ClipForError(k), subject,
				strings.Join(allowedKeys, ", "), diag.DidYouMean(k, allowedKeys))
		}
	}
}

// checkInstructionTools adds a problem for each step that is about a Tool which the palette does not have.
func (i *Idea) checkInstructionTools(m Message, ps *diag.Problems) {
	if m.Instruction == nil {
		return
	}
	for n, s := range m.Instruction.Steps {
		toolsPath := fmt.Sprintf("%s: $.instruction.steps[%d].tools", m.Instruction.FilePath, n)
		for _, name := range s.ToolNames {
			ps.AppendNew(i.UnknownToolProblems(name, toolsPath)...)
		}
	}
}

// DuplicateStepIDProblems reports steps with the same id in several instructions for one instance: the LLM reads steps,
// and is told of unfulfilled ones, by their ids.
func DuplicateStepIDProblems(context []Message) (ps diag.Problems) {
	messages := jsonval.Filter(WithoutSupersededInstructions(context),
		func(m Message) bool { return m.Instruction != nil })
	slices.SortStableFunc(messages, func(a, b Message) int {
		return strings.Compare(a.InstanceToken, b.InstanceToken) // messages for all instances come first
	})
	type place struct{ token, id string }
	filesByStep := map[place][]string{}
	for _, m := range messages {
		for n, s := range m.Instruction.Steps {
			ownStep, sharedStep := place{m.InstanceToken, s.ID}, place{"", s.ID}
			for _, file := range slices.Concat(filesByStep[ownStep], filesByStep[sharedStep]) {
				if file != m.Instruction.FilePath {
					ps.AppendNew(diag.Problem{ // another message may name the file, too
						JSONPath: fmt.Sprintf("%s: $.instruction.steps[%d].id", m.Instruction.FilePath, n),
						Message: fmt.Sprintf("%s has a step %q too, and the LLM reads steps by their ids: "+
							"name them apart", file, jsonval.ClipForError(s.ID))})
				}
			}
			filesByStep[ownStep] = append(filesByStep[ownStep], m.Instruction.FilePath)
		}
	}
	return ps
}

// CheckInstructions returns why the instructions in messages that people add to a process cannot be accepted: a file is
// missing, a step is about a Tool that the palette does not have, or has the id of another instruction's step.
func (i *Idea) CheckInstructions(messages []Message) error {
	var ps diag.Problems
	for n, m := range messages {
		if name := UnreadInstructionFile(m.Source); name != "" {
			ps.Add(fmt.Sprintf("$.context[%d].%s", n, InstructionFileKey),
				"there is no %s; its content may also be given beside it, as %q", name, InstructionContentKey)
		}
		i.checkInstructionTools(m, &ps)
	}
	if HasFileInstructions(messages) {
		ps.Append(DuplicateStepIDProblems(slices.Concat(i.Context, messages))...)
	}
	return ps.ErrorOrNil()
}

// InstructionTextFor returns the text of an instruction message for a Tool; "" if there is none.
func (m Message) InstructionTextFor(toolName string) string {
	switch {
	case m.Instruction != nil:
		return m.Instruction.textForTool(toolName)
	case slices.Contains(m.InstructionToolNames, toolName):
		return m.Text
	}
	return ""
}

// textForTool returns the steps that are about a Tool; for "" the text, and the steps that are about none.
func (i *Instruction) textForTool(toolName string) string {
	var lines []string
	if toolName == "" && i.Text != "" {
		lines = append(lines, i.Text)
	}
	for _, s := range i.Steps {
		if toolName == "" && len(s.ToolNames) == 0 || slices.Contains(s.ToolNames, toolName) {
			lines = append(lines, fmt.Sprintf("Step %s: %s", s.ID, s.Text))
		}
	}
	return strings.Join(lines, "\n")
}

// AllInstructionToolNames lists the Tools that an instruction message is about, each once.
func (m Message) AllInstructionToolNames() []string {
	names := slices.Clone(m.InstructionToolNames)
	if m.Instruction != nil {
		for _, s := range m.Instruction.Steps {
			names = append(names, s.ToolNames...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// HasFileInstructions reports whether a context has instructions of files.
func HasFileInstructions(context []Message) bool {
	return slices.ContainsFunc(context, func(m Message) bool { return m.Instruction != nil })
}

// WithoutSupersededInstructions returns a context without the instructions whose file is in a later Message for the
// same instances.
func WithoutSupersededInstructions(context []Message) []Message {
	if !HasFileInstructions(context) {
		return context
	}
	latestIndexByFile := map[[2]string]int{}
	for n, m := range context {
		if m.Instruction != nil {
			latestIndexByFile[[2]string{m.InstanceToken, m.Instruction.FilePath}] = n
		}
	}
	var out []Message
	for n, m := range context {
		if m.Instruction == nil || latestIndexByFile[[2]string{m.InstanceToken, m.Instruction.FilePath}] == n {
			out = append(out, m)
		}
	}
	return out
}

// InstructionsFor lists the instructions that an instance must heed. If an instruction of the same file is also for all
// instances, its own counts.
func InstructionsFor(context []Message, instanceToken string) (list []*Instruction) {
	for _, m := range WithoutSupersededInstructions(context) {
		if m.Instruction == nil || m.InstanceToken != "" && m.InstanceToken != instanceToken {
			continue
		}
		index := slices.IndexFunc(list, func(i *Instruction) bool { return i.FilePath == m.Instruction.FilePath })
		switch {
		case index < 0:
			list = append(list, m.Instruction)
		case m.InstanceToken != "":
			list[index] = m.Instruction
		}
	}
	return list
}
