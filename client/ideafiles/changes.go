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

// Changes are how a fork differs from the Idea that it comes from. They are applied in the order in which the
// fields stand here. Places are written as starter blame takes them: TOKEN:path, or path in the anonymous instance.
type Changes struct {
	// File is an Idea file, whole or in part, or a list of messages: it comes after the Idea.
	File string `json:"-"`
	// IdeaPart is an Idea, whole or in part, that comes after the Idea; it takes no files of delegates.
	IdeaPart map[string]any `json:"idea,omitempty" doc:"a part of an Idea to add: messages, Tools, configuration"`
	// PlanFile is a list of Calls, or a plan message.
	PlanFile string `json:"-"`
	// Input is a file, or a JSON object, that is added to the input.
	Input string `json:"-"`
	// StateFile is {"TOKEN": {…}}, or one State where there are no tokens, merged into the States.
	StateFile string `json:"-"`
	// Unset is taken out of State: TOKEN:path. Set is put into it: TOKEN:path=JSON.
	Unset []string `json:"unset,omitempty" nullable:"false" doc:"TOKEN:path: values that are taken out of State, so that they can be written again"`
	Set   []string `json:"set,omitempty" nullable:"false" doc:"TOKEN:path=JSON: values that are put into State"`
	LLM   string   `json:"llm,omitempty" doc:"the name of the LLM to ask"`
	// Reopen are tokens of instances that had ended; "all" stands for every one.
	Reopen []string `json:"reopen,omitempty" nullable:"false" doc:"tokens of ended instances to plan for again; or all"`
	// WithSolution is whether the solution of the Idea is taken over, and its Request is not made again.
	WithSolution bool `json:"-"`
}

// Apply makes the changed Idea, in place. The error wraps ErrInvalid.
func (c Changes) Apply(idea map[string]any) (map[string]any, error) {
	e := &editor{Changes: c, idea: idea, reopened: map[string]bool{}}
	before := maps.Clone(idea)
	e.makeRequestAgain()
	for _, step := range []func() error{e.addFile, e.addIdeaPart, e.addPlan, e.addInput, e.mergeStates, e.unsetAll,
		e.setAll, e.nameLLM, e.reopenAll} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if err := Invalid("changes", ideafile.FindUndoes(e.idea, before)); err != nil {
		return nil, err
	}
	if len(e.reopened) > 0 {
		turn.ForgetFailures(e.idea, jsonval.SortedKeys(e.reopened))
	}
	return e.idea, nil
}

// editor applies changes to an Idea.
type editor struct {
	Changes
	idea     jsonval.Object
	reopened map[string]bool // by token
}

// part gives an object of the Idea by its keys, and makes it where it is missing.
func (e *editor) part(path ...string) jsonval.Object {
	at := e.idea
	for _, key := range path {
		next, ok := at[key].(jsonval.Object)
		if !ok {
			next = jsonval.Object{}
			at[key] = next
		}
		at = next
	}
	return at
}

// add puts messages after all others, and reopens the instances that they are about.
func (e *editor) add(messages ...any) {
	context := jsonval.AsList(e.idea["context"])
	messages = ideafile.WithTokensNormalized(messages, ideafile.SplitContextByInstance(context).FindInstanceToken)
	e.idea["context"] = append(context, messages...)
	for _, raw := range messages {
		if token, ok := jsonval.AsObject(raw)["_instance"].(string); ok {
			e.markReopened(token)
		}
	}
}

func (e *editor) addFile() error {
	if e.File == "" {
		return nil
	}
	v, err := readWith(e.File, decodeIdea)
	if err != nil {
		return err
	}
	if list, ok := v.([]any); ok {
		v = jsonval.Object{"context": list}
	}
	more, ok := v.(jsonval.Object)
	if !ok {
		return invalid("read %s: want an Idea, or a list of messages", e.File)
	}
	var problems diag.Problems
	if more, err = WithInstructions(more, e.File, &problems); err != nil {
		return err
	}
	if err := Invalid(e.File, problems); err != nil {
		return err
	}
	if err := e.addKeys(more); err != nil {
		return err
	}
	return e.addDelegates(more)
}

func (e *editor) addIdeaPart() error { return e.addKeys(e.IdeaPart) }

func (e *editor) addKeys(more jsonval.Object) error {
	for key, v := range jsonval.Sorted(more) {
		if err := e.addKey(key, v); err != nil {
			return err
		}
	}
	return nil
}

// addDelegates adds the files that the delegates of added Tools run, carried or in the folder. They replace files of
// the same name that the Idea carries.
func (e *editor) addDelegates(more jsonval.Object) error {
	read, problems := ideafile.ReadIdea(more)
	if len(problems.Errors()) > 0 {
		return nil // it is complained of where the Idea is read
	}
	r := &delegateReader{file: e.File, problems: &problems}
	if err := r.readAll(more, read); err != nil {
		return err
	}
	if len(r.files) > 0 {
		maps.Copy(e.part("delegates"), r.files)
	}
	return Invalid(e.File, problems)
}

// addKey takes one key of an Idea file: messages come after, Tools of the same name and a solution take the place of
// the Idea's, anything else is merged.
func (e *editor) addKey(key string, v any) error {
	list, isList := v.([]any)
	object, isObject := v.(jsonval.Object)
	switch {
	case key == "context" && isList:
		e.add(list...)
	case key == "schema" && isObject:
		tools := jsonval.AsObject(object["tools"])
		for name, tool := range tools {
			e.part("schema", "tools")[name] = tool
		}
		for k, part := range object {
			if k != "tools" {
				e.part("schema")[k] = part // what has no place there is complained of as in any Idea
			}
		}
	case key == "delegates" && isObject: // addDelegates
	case key == "solution" && isObject:
		e.idea[key] = v
	case (key == "meta" || key == "config") && isObject:
		kept := e.part("meta")
		e.idea[key] = jsonval.DeepMerge(e.part(key), object)
		meta := maps.Clone(e.part("meta"))
		for _, own := range append(policy.MetaKeys(), "origin") { // these belong to the chain
			if delete(meta, own); kept[own] != nil {
				meta[own] = kept[own]
			}
		}
		e.idea["meta"] = meta
	default:
		return invalid(
			"read %s: %s: an Idea has meta, config, schema, context, solution and delegates, each in its form", e.File,
			key)
	}
	return nil
}

func (e *editor) addPlan() error {
	if e.PlanFile == "" {
		return nil
	}
	v, err := ReadValue(e.PlanFile)
	if err != nil {
		return err
	}
	switch plan := v.(type) {
	case []any:
		v = jsonval.Object{"type": ideafile.TypePlan, "plan": plan}
	case jsonval.Object:
		plan["type"] = ideafile.TypePlan
	default:
		return invalid("read %s: want a list of Calls, or a plan message", e.PlanFile)
	}
	e.add(v)
	return nil
}

func (e *editor) addInput() (err error) {
	if e.Input == "" {
		return nil
	}
	var v any
	if text := strings.TrimSpace(e.Input); strings.HasPrefix(text, "{") {
		if v, err = jsonval.Decode([]byte(text)); err != nil {
			return invalid("read --input: %s", DecodeCause(err))
		}
	} else if v, err = ReadValue(e.Input); err != nil {
		return err
	}
	if _, ok := v.(jsonval.Object); !ok {
		return invalid("read --input: the input is an object")
	}
	e.add(jsonval.Object{"type": ideafile.TypeInput, ideafile.TypeInput: v})
	return nil
}

func (e *editor) nameLLM() error {
	if e.LLM == "" {
		return nil
	}
	config := e.part("config")
	if all, ok := config["llm"].([]any); ok && len(all) > 0 {
		config["llm"] = all[0] // that LLM is asked, and no other
	}
	e.part("config", "llm")["model"] = e.LLM
	return nil
}

func (e *editor) reopenAll() error {
	owners := ideafile.SplitContextByInstance(e.idea["context"])
	for _, word := range e.Reopen {
		token, known := owners.FindInstanceToken(word)
		switch {
		case word == "all":
			for _, t := range owners.InstanceTokens {
				e.markReopened(t)
			}
		case !known || token == "":
			return invalid("reopen %s: there is no such instance; there are %s", word,
				strings.Join(owners.InstanceTokens, ", "))
		case ideafile.InstanceEndStatus(owners.MessagesByInstance[token], token) == ideafile.InstanceForgotten:
			return invalid("reopen %s: it was forgotten, and nothing is left of it", word)
		default:
			e.markReopened(token)
		}
	}
	return nil
}

// makeRequestAgain has the last Request of a process made again, where nothing but the LLM is changed: those whom it
// ended are at work as it saw them. Where something is changed, those alone are whom the change is about.
func (e *editor) makeRequestAgain() {
	meta := jsonval.AsObject(e.idea["meta"])
	ended, _ := jsonval.AsStringList(meta[turn.EndedByRequestKey])
	delete(meta, turn.EndedByRequestKey)
	c := e.Changes
	if c.File+c.PlanFile+c.Input+c.StateFile == "" && len(c.IdeaPart)+len(c.Unset)+len(c.Set)+len(c.Reopen) == 0 &&
		!c.WithSolution {
		for _, token := range ended {
			e.unmark(token)
		}
	}
}

// markReopened removes the marks by which an instance counts as settled or failed, so that the LLM plans for it again,
// or its direct Plan goes on: what that has tried in vain is tried again.
func (e *editor) markReopened(token string) {
	e.reopened[token] = true
	e.unmark(token)
}

func (e *editor) unmark(token string) {
	for _, raw := range jsonval.AsList(e.idea["context"]) {
		m, ok := raw.(jsonval.Object)
		forgotten := m[ideafile.StatusKey] == string(ideafile.InstanceForgotten)
		if owner, _ := m["_instance"].(string); ok && owner == token && !forgotten {
			delete(m, "_status")
			delete(m, "_error")
			delete(m, ideafile.StepsKey)
		}
	}
}

// place reads TOKEN:path of a State that the Idea has.
func (e *editor) place(flag, text string) (token string, path jsonval.Path, err error) {
	token, path, err = chain.ReadPlace(ideafile.SplitContextByInstance(e.idea["context"]), text)
	if err != nil {
		return "", nil, invalid("%s %s: %w", flag, text, err)
	}
	return token, path, nil
}
