package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"processidea/tools"
)

type decideParams struct {
	Facts     map[string]any `json:"facts" jsonschema:"What is known."`
	Rules     []decideRule   `json:"rules" jsonschema:"The rules, in order: the first whose schema holds on the facts decides."`
	Otherwise *decideOutcome `json:"otherwise,omitempty" jsonschema:"What is decided where no rule holds; without it that is an error."`
}

type decideRule struct {
	When     any    `json:"when" jsonschema:"A JSON Schema that the facts must satisfy."`
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
}

type decideOutcome struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
}

type decideResult struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Rule     *int   `json:"rule" jsonschema:"The place of the rule that decided, from 0; null where none held."`
}

func registerDecide(r *tools.Registry) {
	tools.Register(r, "decide", decide, tools.Pure(),
		tools.Describe("Decides by a table: the first rule whose JSON Schema holds on the facts gives the decision and its reason."))
}

func decide(_ context.Context, in decideParams) (decideResult, error) {
	// All rules are read first: whether a table is sound must not depend on the facts.
	schemas := make([]*jsonschema.Schema, len(in.Rules))
	for i, rule := range in.Rules {
		schema, err := compileWhen(rule.When)
		if err != nil {
			return decideResult{}, tools.Final(fmt.Errorf("rule %d: when: %w", i, err))
		}
		schemas[i] = schema
	}
	for i, schema := range schemas {
		holds, err := satisfies(schema, in.Facts)
		if err != nil {
			return decideResult{}, tools.Final(fmt.Errorf("rule %d: %w", i, err))
		}
		if holds {
			return decideResult{in.Rules[i].Decision, in.Rules[i].Reason, &i}, nil
		}
	}
	if in.Otherwise == nil {
		return decideResult{}, tools.Final(errors.New("no rule holds, and there is no otherwise"))
	}
	return decideResult{in.Otherwise.Decision, in.Otherwise.Reason, nil}, nil
}

// compileWhen compiles a schema that may come from anywhere: nothing is ever
// loaded for it, and what the compiler panics on is an error.
func compileWhen(when any) (schema *jsonschema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			schema, err = nil, fmt.Errorf("not a usable JSON Schema: %s", tools.PanicText(p))
		}
	}()
	raw, err := json.Marshal(when)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s: schemas are never loaded", url)
	}
	const place = "mem:///when.json"
	if err := c.AddResource(place, bytes.NewReader(raw)); err != nil {
		return nil, err
	}
	return c.Compile(place)
}

func satisfies(schema *jsonschema.Schema, facts any) (holds bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its schema cannot be evaluated: %s", tools.PanicText(p))
		}
	}()
	err = schema.Validate(facts)
	var unmet *jsonschema.ValidationError
	if errors.As(err, &unmet) {
		return false, nil
	}
	return err == nil, err
}
