package builtin

import (
	"context"
	"errors"
	"fmt"

	"processidea/model/jsonschema"
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
	Decision  string `json:"decision"`
	Reason    string `json:"reason"`
	RuleIndex *int   `json:"rule" jsonschema:"The place of the rule that decided, from 0; null where none held."`
}

func decide(_ context.Context, in decideParams) (decideResult, error) {
	// All rules are compiled first: whether a table is valid must not depend on the facts.
	schemas := make([]*jsonschema.Schema, len(in.Rules))
	for i, rule := range in.Rules {
		schema, err := jsonschema.CompileSchema(rule.When)
		if err != nil {
			return decideResult{}, tools.Final(fmt.Errorf("rule %d: when: %w", i, err))
		}
		schemas[i] = schema
	}
	for i, schema := range schemas {
		holds, err := schema.Matches(in.Facts)
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
