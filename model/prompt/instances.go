package prompt

import (
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/quality"
	"processidea/model/turn"
)

// writeSharedContext writes the part of the context that all instances share: the instructions, and the goal.
func (w *promptWriter) writeSharedContext() {
	w.writeHeading("The process")
	lengthWithHeading := w.Len()
	for _, kind := range []string{ideafile.TypeInstruction, ideafile.TypeText} {
		for _, m := range ideafile.WithoutSupersededInstructions(w.idea.Context) {
			if m.Type == kind && m.InstanceToken == "" && len(m.InstructionToolNames) == 0 {
				if w.isReplacedInSomeInstance(m) {
					w.writeLine("%s, for those instances that have no %[1]s of their own:", m.Instruction.FilePath)
				}
				w.writeQuoted("", m.Text)
			}
		}
	}
	view := ideafile.InstanceViewOf(w.idea.Context, "")
	kinds, payloads := w.nonStatePayloads(view)
	for n, payload := range w.fitToPrompt(payloads) {
		w.writeLabeledValue("†"+kinds[n]+": ", payload)
	}
	if sharedState, ok := view.PayloadByKind[ideafile.TypeState].(jsonval.Object); ok && len(sharedState) > 0 &&
		w.HasSeveralInstances() {
		w.writeLabeledValue("Beside what is shown below, †state holds in every instance: ",
			w.fitToPrompt([]any{sharedState})[0])
	}
	w.writePreviewExplanation()
	if s := view.SchemaByKind[ideafile.TypeState]; s != nil {
		w.writeLine(stateSchemaLineFormat(s), w.stateSchemaText(s))
		w.writeGoal(s)
	}
	if w.Len() == lengthWithHeading {
		w.writeLine("Bring the process to its end.")
	}
}

// stateSchemaLineFormat is a format with a place for the schema of State. If State may hold only what its schema names, the
// text says what that means for a Call.
func stateSchemaLineFormat(stateSchema any) string {
	if m := jsonval.AsObject(stateSchema); m["additionalProperties"] != false {
		return "Form of State: %s"
	}
	return `Form of State: %s. It has no other places: a result that fits none gets "_outputPath": null.`
}

// writeGoal describes in words when an instance is finished.
func (w *promptWriter) writeGoal(stateSchema any) {
	m := jsonval.AsObject(stateSchema)
	splitMessages := ideafile.SplitMessagesByInstance(w.idea.Context)
	// A value with which every instance starts is no part of the goal.
	required := jsonval.Filter(jsonschema.Required(m), func(name string) bool {
		return slices.ContainsFunc(w.idea.InstanceTokens(), func(token string) bool {
			state := jsonval.AsObject(splitMessages.InstanceView(token).PayloadByKind[ideafile.TypeState])
			_, isInitiallySet := state[name]
			return !isInitiallySet
		})
	})
	if len(required) == 0 {
		return
	}
	subject := "The process"
	if w.HasSeveralInstances() {
		subject = "An instance"
	}
	w.writeLine("%s counts as finished when its State holds %s and all its Calls have ended.", subject,
		strings.Join(required, ", "))
}

func (w *promptWriter) writeInstanceStates() {
	if len(w.Instances) == 0 {
		return
	}
	w.writeHeading("State now")
	sharedState := ideafile.InstanceViewOf(w.idea.Context, "").PayloadByKind[ideafile.TypeState]
	states, payloadsByToken := make([]any, len(w.Instances)), w.ownPayloadsByToken()
	for n, instance := range w.Instances {
		if states[n] = instance.State; instance.Token != "" {
			states[n] = withoutSharedValues(sharedState, instance.State)
		}
	}
	states = w.fitToPrompt(states)
	for _, n := range w.shuffledInstanceOrder() {
		instance, label := w.Instances[n], ""
		if instance.Token != "" {
			label = instanceLabel(instance.Token) + ": "
		}
		w.writeLabeledValue(label, states[n])
		if instance.ReopenReason != "" {
			w.writeLine("  It had ended and was %s", oneLine(instance.ReopenReason))
		}
		w.writeInstanceContext(instance, payloadsByToken[instance.Token])
		if len(instance.MissingRequiredPaths) > 0 {
			w.writeLine("  still missing: %s", strings.Join(instance.MissingRequiredPaths, ", "))
		}
		for _, s := range instance.UnfulfilledSteps {
			w.writeLine("  step %s is not fulfilled, so that it cannot be finished: %s", s.StepID, oneLine(s.Reason))
		}
		if instance.HasReachedGoal {
			w.writeLine("  It has all that it needs to be finished, and is shown since something went wrong: it may " +
				"need no Call.")
		}
	}
	w.writePreviewExplanation()
}

// shuffledInstanceOrder returns an order of the instances that depends on the seed of the Idea. Places in a prompt
// affect answers, so no instance should have the same place each time. The rules and the palette stay in front, for
// prompt caches.
func (w *promptWriter) shuffledInstanceOrder() []int {
	if w.Recheck == nil {
		return quality.ShuffledOrder(w.idea.QualitySeed, w.RequestNumber, quality.ShufflePurposeRequest, len(w.Instances))
	}
	return quality.RecheckOrder(w.idea.QualitySeed, w.RequestNumber,
		jsonval.Map(w.Instances, func(one turn.InstanceInput) int { return w.Recheck.InstancePositionByToken[one.Token] }))
}

// nonStatePayloads lists the payloads of a view except State, by kind.
func (w *promptWriter) nonStatePayloads(view ideafile.InstanceView) (kinds []string, payloads []any) {
	for kind, v := range jsonval.Sorted(view.PayloadByKind) {
		if kind != ideafile.TypeState {
			kinds, payloads = append(kinds, kind), append(payloads, v)
		}
	}
	return kinds, payloads
}

// ownPayloadsByToken returns what each instance of the Request has beside its State and the shared context, by token
// and kind.
func (w *promptWriter) ownPayloadsByToken() map[string]jsonval.Object {
	payloadsByToken := map[string]jsonval.Object{}
	var tokens, kinds []string
	var allPayloads []any
	for _, instance := range w.Instances {
		if instance.Token == "" {
			continue
		}
		payloadsByToken[instance.Token] = jsonval.Object{}
		instanceKinds, payloads := w.nonStatePayloads(ideafile.OwnInstanceView(w.idea.Context, instance.Token))
		tokens, kinds, allPayloads = append(tokens, slices.Repeat([]string{instance.Token}, len(instanceKinds))...),
			append(kinds, instanceKinds...), append(allPayloads, payloads...)
	}
	for n, payload := range w.fitToPrompt(allPayloads) {
		payloadsByToken[tokens[n]][kinds[n]] = payload
	}
	return payloadsByToken
}

// withoutSharedValues is a State without the values that all instances share, which writeSharedContext writes.
func withoutSharedValues(sharedState, state any) any {
	sharedObject, ok := sharedState.(jsonval.Object)
	instanceObject, isObject := state.(jsonval.Object)
	if !ok || !isObject {
		return state
	}
	out := jsonval.Object{}
	for k, v := range jsonval.Sorted(instanceObject) {
		if sharedValue, ok := sharedObject[k]; !ok || !jsonval.Equal(sharedValue, v) {
			out[k] = v
		}
	}
	return out
}

// writeInstanceContext writes the part of the context, beside State, that only this instance sees.
func (w *promptWriter) writeInstanceContext(instance turn.InstanceInput, ownPayloads jsonval.Object) {
	if instance.Token == "" {
		return
	}
	for _, m := range ideafile.WithoutSupersededInstructions(w.idea.Context) {
		switch {
		case m.InstanceToken != instance.Token:
		case m.Type == ideafile.TypeInstruction && len(m.InstructionToolNames) > 0:
			w.writeLine("  For %s:", strings.Join(m.InstructionToolNames, ", "))
			w.writeQuoted("  ", m.Text)
		case m.Type == ideafile.TypeText, m.Type == ideafile.TypeInstruction:
			w.writeReplacementNote(m)
			w.writeQuoted("  ", m.Text)
			w.writeStepsOfTools(m)
		}
	}
	for kind, v := range jsonval.Sorted(ownPayloads) {
		w.writeLabeledValue("  its own †"+kind+": ", v)
	}
	if s := ideafile.OwnInstanceView(w.idea.Context, instance.Token).SchemaByKind[ideafile.TypeState]; s != nil {
		w.writeLine("  form of its State: %s", w.stateSchemaText(s))
	}
}

// writeReplacementNote says which shared instruction an instance's own instruction of the same file replaces. If the
// shared one has steps, it names them, since they may also be shown with Tools.
func (w *promptWriter) writeReplacementNote(ownInstruction ideafile.Message) {
	if ownInstruction.Instruction == nil {
		return
	}
	for _, m := range ideafile.WithoutSupersededInstructions(w.idea.Context) {
		if m.Instruction == nil || m.InstanceToken != "" || m.Instruction.FilePath != ownInstruction.Instruction.FilePath {
			continue
		}
		ids := jsonval.Map(m.Instruction.Steps, func(s ideafile.InstructionStep) string { return s.ID })
		if len(ids) == 0 {
			w.writeLine("  its own %s, in place of the one above:", m.Instruction.FilePath)
			continue
		}
		w.writeLine("  its own %s, in place of the one above with step %s:", m.Instruction.FilePath, strings.Join(ids, ", "))
	}
}

// isReplacedInSomeInstance reports whether some instance has an instruction of its own in place of this shared one.
func (w *promptWriter) isReplacedInSomeInstance(sharedMessage ideafile.Message) bool {
	return sharedMessage.Instruction != nil && sharedMessage.Text != "" && slices.ContainsFunc(w.idea.Context,
		func(m ideafile.Message) bool {
			return m.Instruction != nil && m.InstanceToken != "" && m.Instruction.FilePath == sharedMessage.Instruction.FilePath
		})
}

// writeStepsOfTools writes the steps about Tools of one instance's own instruction.
func (w *promptWriter) writeStepsOfTools(m ideafile.Message) {
	for _, tool := range m.AllInstructionToolNames() {
		w.writeLine("  For %s:", tool)
		w.writeQuoted("  ", m.InstructionTextFor(tool))
	}
}

// minNamedTypeLength is the minimum length of a repeated type that gets a name.
const minNamedTypeLength = 30

// stateSchemaText writes the schema of a State. A long type that the palette has already shown as a Tool's result is
// only named.
func (w *promptWriter) stateSchemaText(schema any) string {
	nameByTypeText := map[string]string{}
	for _, t := range w.idea.Tools {
		if t.OutputSchema == nil {
			continue
		}
		text := schemaText(t.OutputSchema.Source, t.OutputSchema.Source)
		if _, isKnown := nameByTypeText[text]; !isKnown && len(text) >= minNamedTypeLength {
			nameByTypeText[text] = "result of " + t.Name
		}
	}
	return schemaTextWithNames(schema, schema, nameByTypeText)
}
