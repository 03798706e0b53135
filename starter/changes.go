package main

import (
	"strings"

	"github.com/spf13/cobra"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/store/chain"
)

// changes is what a fork has otherwise than the Idea it comes from.
type changes struct {
	set, unset, reopen []string
	state, input       string
	plan, file, llm    string

	idea map[string]any // as far as it is changed
}

func (c *changes) flags(to *cobra.Command) {
	f := to.Flags()
	f.StringArrayVar(&c.set, "set", nil, "`TOKEN:path=JSON`: put a value into State")
	f.StringArrayVar(&c.unset, "unset", nil, "`TOKEN:path`: take a value out of State, so that it can be written again")
	f.StringVar(&c.state, "state", "", "`file` to merge into the States")
	f.StringVar(&c.input, "input", "", "`file`, or JSON, to add to the input")
	f.StringVar(&c.plan, "plan", "", "`file` with a Plan: a list of Calls, or a plan message")
	f.StringVar(&c.file, "file", "", "Idea `file`, whole or in part, or list of messages, that comes after the Idea")
	f.StringVar(&c.llm, "llm", "", "`name` of the LLM to ask")
	f.StringSliceVar(&c.reopen, "reopen", nil, "`TOKEN` of an instance that had ended, to plan for anew; or all")
	for _, name := range []string{"state", "plan", "file"} {
		_ = to.MarkFlagFilename(name)
	}
}

// apply makes the changed Idea, in the order: file, plan, input, state, unset, set, LLM.
func (c *changes) apply(idea map[string]any) (map[string]any, error) {
	c.idea = idea
	for _, step := range []func() error{c.addFile, c.addPlan, c.addInput, c.mergeStates, c.unsetAll, c.setAll, c.nameLLM, c.reopenAll} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return c.idea, nil
}

// readValue reads a JSON or YAML file.
func readValue(file string) (any, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	v, problem := decodeFile(file, data)
	if problem != nil {
		return nil, &invalid{file, diag.Problems{*problem}}
	}
	return v, nil
}

// part gives an object of the Idea, which is made where it is missing.
func (c *changes) part(path ...string) map[string]any {
	at := c.idea
	for _, key := range path {
		next, ok := at[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[key] = next
		}
		at = next
	}
	return at
}

// add puts messages after all others. An instance that one of them is about has not ended any more.
func (c *changes) add(messages ...any) {
	context, _ := c.idea["context"].([]any)
	c.idea["context"] = append(context, messages...)
	for _, raw := range messages {
		if m, ok := raw.(map[string]any); ok {
			if token, ok := m["_instance"].(string); ok {
				c.reopens(token)
			}
		}
	}
}

func (c *changes) addFile() error {
	if c.file == "" {
		return nil
	}
	v, err := readValue(c.file)
	if err != nil {
		return err
	}
	if list, ok := v.([]any); ok {
		v = map[string]any{"context": list}
	}
	more, ok := v.(map[string]any)
	if !ok {
		return misuse("read %s: want an Idea, or a list of messages", c.file)
	}
	for _, key := range sortedKeys(more) {
		if err := c.addKey(key, more[key]); err != nil {
			return err
		}
	}
	return nil
}

// addKey takes one key of an Idea file: messages come after, Tools of the same name and a solution take the place of the
// Idea's, anything else is merged.
func (c *changes) addKey(key string, v any) error {
	list, isList := v.([]any)
	object, isObject := v.(map[string]any)
	switch {
	case key == "context" && isList:
		c.add(list...)
	case key == "schema" && isObject:
		tools, _ := object["tools"].(map[string]any)
		for name, tool := range tools {
			c.part("schema", "tools")[name] = tool
		}
		for k, part := range object {
			if k != "tools" {
				c.part("schema")[k] = part // what has no place there is complained of as in any Idea
			}
		}
	case key == "solution" && isObject:
		c.idea[key] = v
	case (key == "meta" || key == "config") && isObject:
		origin := c.part("meta")["origin"]
		c.idea[key] = jsonval.Merge(c.part(key), object)
		c.part("meta")["origin"] = origin
	default:
		return misuse("read %s: %s: an Idea has meta, config, schema, context and solution, each in its form", c.file, key)
	}
	return nil
}

func (c *changes) addPlan() error {
	if c.plan == "" {
		return nil
	}
	v, err := readValue(c.plan)
	if err != nil {
		return err
	}
	switch plan := v.(type) {
	case []any:
		v = map[string]any{"type": ideafile.TypePlan, "plan": plan}
	case map[string]any:
		plan["type"] = ideafile.TypePlan
	default:
		return misuse("read %s: want a list of Calls, or a plan message", c.plan)
	}
	c.add(v)
	return nil
}

func (c *changes) addInput() (err error) {
	if c.input == "" {
		return nil
	}
	var v any
	if text := strings.TrimSpace(c.input); strings.HasPrefix(text, "{") {
		if v, err = jsonval.Decode([]byte(text)); err != nil {
			return misuse("read --input: %s", decodeCause(err))
		}
	} else if v, err = readValue(c.input); err != nil {
		return err
	}
	if _, ok := v.(map[string]any); !ok {
		return misuse("read --input: the input is an object")
	}
	c.add(map[string]any{"type": ideafile.TypeInput, ideafile.TypeInput: v})
	return nil
}

func (c *changes) nameLLM() error {
	if c.llm != "" {
		c.part("config", "llm")["model"] = c.llm
	}
	return nil
}

func (c *changes) reopenAll() error {
	owners := ideafile.SplitContext(c.idea["context"])
	for _, token := range c.reopen {
		switch {
		case token == "all":
			for _, t := range owners.Tokens {
				c.reopens(t)
			}
		case !owners.HasInstance(token) || token == "":
			return misuse("reopen %s: there is no such instance; there are %s", token, strings.Join(owners.Tokens, ", "))
		default:
			c.reopens(token)
		}
	}
	return nil
}

// reopens lets an instance that had ended be planned for again.
func (c *changes) reopens(token string) {
	context, _ := c.idea["context"].([]any)
	for _, raw := range context {
		m, ok := raw.(map[string]any)
		if owner, _ := m["_instance"].(string); ok && owner == token {
			delete(m, "_status")
			delete(m, "_error")
		}
	}
}

// place reads TOKEN:path of a State that the Idea has.
func (c *changes) place(flag, text string) (token string, path jsonval.Path, err error) {
	token, path, err = chain.ReadPlace(ideafile.SplitContext(c.idea["context"]), text)
	if err != nil {
		return "", nil, misuse("%s %s: %w", flag, text, err)
	}
	return token, path, nil
}
