package ideafiles

import (
	"maps"
	"strings"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/store/chain"
)

// ForkChanges are how a fork differs from the Idea that it is forked from. They are applied in the order of the fields.
// Places have the form that starter blame takes: TOKEN:path, or path in the anonymous instance.
type ForkChanges struct {
	// AddedFile is an Idea file, whole or in part, or a list of messages, which is added after the Idea.
	AddedFile string `json:"-"`
	// AddedIdea is an Idea, whole or in part, which is added after the Idea; files of delegates in it are ignored.
	AddedIdea map[string]any `json:"idea,omitempty" doc:"a part of an Idea to add: messages, Tools, configuration"`
	// PlanFile is a list of Calls, or a plan message.
	PlanFile string `json:"-"`
	// InputFileOrJSON is a file, or a JSON object, which is added to the input.
	InputFileOrJSON string `json:"-"`
	// StateFile is {"TOKEN": {…}}, or one State if there are no tokens. It is merged into the States.
	StateFile string `json:"-"`
	// ValuesToUnset lists values to remove from State: TOKEN:path. ValuesToSet lists values to put into State:
	// TOKEN:path=JSON.
	ValuesToUnset []string `json:"unset,omitempty" nullable:"false" doc:"TOKEN:path: values that are taken out of State, so that they can be written again"`
	ValuesToSet   []string `json:"set,omitempty" nullable:"false" doc:"TOKEN:path=JSON: values that are put into State"`
	LLMName       string   `json:"llm,omitempty" doc:"the name of the LLM to ask"`
	// InstanceTokensToReopen are tokens of ended instances; "all" stands for all of them.
	InstanceTokensToReopen []string `json:"reopen,omitempty" nullable:"false" doc:"tokens of ended instances to plan for again; or all"`
	// KeepsSolution is whether the fork takes over the solution of the Idea, and does not repeat its Request.
	KeepsSolution bool `json:"-"`
}

// Apply changes the Idea, in place, and returns it. The error wraps ErrInvalid.
func (c ForkChanges) Apply(idea map[string]any) (map[string]any, error) {
	e := &ideaEditor{ForkChanges: c, idea: idea, reopenedTokens: map[string]bool{}}
	originalIdea := maps.Clone(idea)
	e.prepareRequestRepeat()
	for _, step := range []func() error{e.addFile, e.addGivenIdea, e.addPlan, e.addInput, e.mergeStates, e.unsetValues,
		e.setValues, e.setLLM, e.reopenInstances} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if err := ErrorFromProblems("changes", ideafile.CheckNewUndoesKeys(e.idea, originalIdea)); err != nil {
		return nil, err
	}
	if len(e.reopenedTokens) > 0 {
		turn.DropFailedOutcomes(e.idea, jsonval.SortedKeys(e.reopenedTokens))
	}
	return e.idea, nil
}

// ideaEditor applies changes to an Idea.
type ideaEditor struct {
	ForkChanges
	idea           jsonval.Object
	reopenedTokens map[string]bool // by token
}

// ensureObjectAt returns the object of the Idea at some keys, and creates it if it is missing.
func (e *ideaEditor) ensureObjectAt(path ...string) jsonval.Object {
	object := e.idea
	for _, key := range path {
		next, ok := object[key].(jsonval.Object)
		if !ok {
			next = jsonval.Object{}
			object[key] = next
		}
		object = next
	}
	return object
}

// addMessages appends messages to the context, and reopens the instances that they are for.
func (e *ideaEditor) addMessages(messages ...any) {
	context := jsonval.AsList(e.idea["context"])
	messages = ideafile.WithInstanceTokensNormalized(messages,
		ideafile.SplitContextByInstance(context).FindInstanceToken)
	e.idea["context"] = append(context, messages...)
	for _, raw := range messages {
		if token, ok := jsonval.AsObject(raw)["_instance"].(string); ok {
			e.markReopened(token)
		}
	}
}

func (e *ideaEditor) addFile() error {
	if e.AddedFile == "" {
		return nil
	}
	v, err := readFileWith(e.AddedFile, decodeIdea)
	if err != nil {
		return err
	}
	if messages, ok := v.([]any); ok {
		v = jsonval.Object{"context": messages}
	}
	addition, ok := v.(jsonval.Object)
	if !ok {
		return invalidErrorf("read %s: want an Idea, or a list of messages", e.AddedFile)
	}
	var problems diag.Problems
	if addition, err = WithInstructions(addition, e.AddedFile, &problems); err != nil {
		return err
	}
	if err := ErrorFromProblems(e.AddedFile, problems); err != nil {
		return err
	}
	if err := e.addKeys(addition); err != nil {
		return err
	}
	return e.addDelegates(addition)
}

func (e *ideaEditor) addGivenIdea() error { return e.addKeys(e.AddedIdea) }

func (e *ideaEditor) addKeys(addition jsonval.Object) error {
	for key, v := range jsonval.Sorted(addition) {
		if err := e.addKey(key, v); err != nil {
			return err
		}
	}
	return nil
}

// addDelegates adds the files of the added Tools' delegates, from the added Idea or from its folder. They replace files
// of the same name in the Idea.
func (e *ideaEditor) addDelegates(addition jsonval.Object) error {
	idea, problems := ideafile.ReadIdea(addition)
	if len(problems.Errors()) > 0 {
		return nil // reported when the Idea is read
	}
	r := &delegateReader{rootFile: e.AddedFile, problems: &problems}
	if err := r.readAllDelegates(addition, idea); err != nil {
		return err
	}
	if len(r.fileByKey) > 0 {
		maps.Copy(e.ensureObjectAt("delegates"), r.fileByKey)
	}
	return ErrorFromProblems(e.AddedFile, problems)
}

// addKey adds one key of an Idea file: messages are appended, Tools of the same name and a solution are replaced,
// anything else is merged.
func (e *ideaEditor) addKey(key string, v any) error {
	newMessages, isList := v.([]any)
	object, isObject := v.(jsonval.Object)
	switch {
	case key == "context" && isList:
		e.addMessages(newMessages...)
	case key == "schema" && isObject:
		tools := jsonval.AsObject(object["tools"])
		for name, tool := range tools {
			e.ensureObjectAt("schema", "tools")[name] = tool
		}
		for k, member := range object {
			if k != "tools" {
				e.ensureObjectAt("schema")[k] = member // an unknown key is reported as in any Idea
			}
		}
	case key == "delegates" && isObject: // addDelegates
	case key == "solution" && isObject:
		e.idea[key] = v
	case (key == "meta" || key == "config") && isObject:
		oldMeta := e.ensureObjectAt("meta")
		e.idea[key] = jsonval.DeepMerge(e.ensureObjectAt(key), object)
		meta := maps.Clone(e.ensureObjectAt("meta"))
		for _, metaKey := range append(policy.ChainMetaKeys(), "origin") { // these belong to the chain
			if delete(meta, metaKey); oldMeta[metaKey] != nil {
				meta[metaKey] = oldMeta[metaKey]
			}
		}
		e.idea["meta"] = meta
	default:
		return invalidErrorf(
			"read %s: %s: an Idea has meta, config, schema, context, solution and delegates, each in its form",
			e.AddedFile,
			key)
	}
	return nil
}

func (e *ideaEditor) addPlan() error {
	if e.PlanFile == "" {
		return nil
	}
	v, err := ReadJSONOrYAMLFile(e.PlanFile)
	if err != nil {
		return err
	}
	switch plan := v.(type) {
	case []any:
		v = jsonval.Object{"type": ideafile.TypePlan, "plan": plan}
	case jsonval.Object:
		plan["type"] = ideafile.TypePlan
	default:
		return invalidErrorf("read %s: want a list of Calls, or a plan message", e.PlanFile)
	}
	e.addMessages(v)
	return nil
}

func (e *ideaEditor) addInput() (err error) {
	if e.InputFileOrJSON == "" {
		return nil
	}
	var v any
	if text := strings.TrimSpace(e.InputFileOrJSON); strings.HasPrefix(text, "{") {
		if v, err = jsonval.Decode([]byte(text)); err != nil {
			return invalidErrorf("read --input: %s", DecodeCause(err))
		}
	} else if v, err = ReadJSONOrYAMLFile(e.InputFileOrJSON); err != nil {
		return err
	}
	if _, ok := v.(jsonval.Object); !ok {
		return invalidErrorf("read --input: the input is an object")
	}
	e.addMessages(jsonval.Object{"type": ideafile.TypeInput, ideafile.TypeInput: v})
	return nil
}

func (e *ideaEditor) setLLM() error {
	if e.LLMName == "" {
		return nil
	}
	config := e.ensureObjectAt("config")
	if llmConfigs, ok := config["llm"].([]any); ok && len(llmConfigs) > 0 {
		config["llm"] = llmConfigs[0] // only that LLM is asked
	}
	e.ensureObjectAt("config", "llm")["model"] = e.LLMName
	return nil
}

func (e *ideaEditor) reopenInstances() error {
	splitContext := ideafile.SplitContextByInstance(e.idea["context"])
	for _, typedToken := range e.InstanceTokensToReopen {
		token, known := splitContext.FindInstanceToken(typedToken)
		switch {
		case typedToken == "all":
			for _, t := range splitContext.InstanceTokens {
				e.markReopened(t)
			}
		case !known || token == "":
			return invalidErrorf("reopen %s: there is no such instance; there are %s", typedToken,
				strings.Join(splitContext.InstanceTokens, ", "))
		case ideafile.InstanceEndStatus(splitContext.MessagesByInstance[token], token) == ideafile.InstanceForgotten:
			return invalidErrorf("reopen %s: it was forgotten, and nothing is left of it", typedToken)
		default:
			e.markReopened(token)
		}
	}
	return nil
}

// prepareRequestRepeat prepares an unchanged Idea, or one with another LLM only, to repeat its last Request: the
// instances that the Request ended are working again. In a changed Idea, only the instances that the changes are for
// work again.
func (e *ideaEditor) prepareRequestRepeat() {
	meta := jsonval.AsObject(e.idea["meta"])
	endedTokens, _ := jsonval.AsStringList(meta[turn.EndedByRequestMetaKey])
	delete(meta, turn.EndedByRequestMetaKey)
	c := e.ForkChanges
	if c.AddedFile+c.PlanFile+c.InputFileOrJSON+c.StateFile == "" &&
		len(c.AddedIdea)+len(c.ValuesToUnset)+len(c.ValuesToSet)+len(c.InstanceTokensToReopen) == 0 &&
		!c.KeepsSolution {
		for _, token := range endedTokens {
			e.clearEndMarks(token)
		}
	}
}

// markReopened removes the marks by which an instance counts as settled or failed. Then the LLM plans for it again, or
// its direct Plan continues and repeats what had failed.
func (e *ideaEditor) markReopened(instanceToken string) {
	e.reopenedTokens[instanceToken] = true
	e.clearEndMarks(instanceToken)
}

func (e *ideaEditor) clearEndMarks(instanceToken string) {
	for _, raw := range jsonval.AsList(e.idea["context"]) {
		m, ok := raw.(jsonval.Object)
		isForgotten := m[ideafile.InstanceStatusKey] == string(ideafile.InstanceForgotten)
		if ownerToken, _ := m["_instance"].(string); ok && ownerToken == instanceToken && !isForgotten {
			delete(m, "_status")
			delete(m, "_error")
			delete(m, ideafile.StepOutcomesKey)
		}
	}
}

// readStatePlace reads TOKEN:path of a State in the Idea.
func (e *ideaEditor) readStatePlace(flag, text string) (instanceToken string, path jsonval.Path, err error) {
	instanceToken, path, err = chain.ParseStatePlace(ideafile.SplitContextByInstance(e.idea["context"]), text)
	if err != nil {
		return "", nil, invalidErrorf("%s %s: %w", flag, text, err)
	}
	return instanceToken, path, nil
}
