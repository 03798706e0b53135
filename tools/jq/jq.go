// Package jq runs the part of the language jq that reads and computes, within bounds on time and memory. It serves the
// expressions of processes and of rules for webhooks, on untrusted data.
//
// A time limit alone does not bound memory: `.text * .n` fills it in one step, and so does `. + .` repeated thirty
// times. So an expression is rewritten before it is compiled: everything that makes a value is counted, or refused.
package jq

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"processidea/model/jsonval"
)

const maxErrorChars = 300 // characters of an error message, which may quote values

// Limits bound one run. Bytes are estimates of the written-out size.
type Limits struct {
	Timeout       time.Duration
	MaxValueBytes int // bytes of one made value, and of all results together
	MaxTotalBytes int // bytes of all made values together
}

// Query is a compiled expression. It must not run concurrently.
type Query struct {
	code   *gojq.Code
	budget *budget
}

// Compile compiles an expression without environment, input and modules. The error names what is not allowed.
func Compile(text string, limits Limits) (*Query, error) {
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	if err := checkAndMeterNode(reflect.ValueOf(query)); err != nil {
		return nil, err
	}
	query.FuncDefs = checkedFunctionDefs
	queryBudget := &budget{Limits: limits}
	code, err := gojq.Compile(query,
		gojq.WithFunction("_charge", 0, 0, queryBudget.chargeValue),
		gojq.WithFunction("_step", 0, 0, queryBudget.chargeListItem),
		gojq.WithFunction("_size", 0, 0, queryBudget.valueSize),
		gojq.WithFunction("_isWhole", 0, 0, isWrittenAsInteger),
		gojq.WithFunction("_literal", 1, 1, numberLiteral))
	return &Query{code, queryBudget}, err
}

// Run returns the first n results for a value, with numbers as json.Number.
func (q *Query) Run(ctx context.Context, v any, maxResults int) ([]any, error) {
	timeoutCtx, cancel := context.WithTimeout(ctx, q.budget.Timeout)
	defer cancel()
	q.budget.spentBytes = 0
	results, err := q.collectResults(timeoutCtx, v, maxResults)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case timeoutCtx.Err() != nil:
		return nil, fmt.Errorf("it took more than %v", q.budget.Timeout)
	}
	return results, err
}

func (q *Query) collectResults(ctx context.Context, v any, maxResults int) ([]any, error) {
	results, estimatedBytes := []any{}, 0
	for it := q.code.RunWithContext(ctx, v); len(results) < maxResults; {
		v, ok := it.Next()
		if !ok {
			break
		}
		if err, isError := v.(error); isError {
			return nil, errors.New(jsonval.Clip(strings.TrimPrefix(err.Error(), "error: "), maxErrorChars))
		}
		if estimatedBytes += estimateSizeUpToLimit(v, q.budget.MaxValueBytes); estimatedBytes > q.budget.MaxValueBytes {
			return nil, errors.New("its results are too large")
		}
		plainValue, err := toJSONNumbers(v)
		if err != nil {
			return nil, err
		}
		results = append(results, plainValue)
	}
	return results, nil
}

// toJSONNumbers converts the interpreter's own numbers into JSON numbers.
func toJSONNumbers(v any) (any, error) {
	raw, err := gojq.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	err = jsonval.Unmarshal(raw, &out)
	return out, err
}
