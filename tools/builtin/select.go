package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"processidea/model/jsonval"
	"processidea/tools"
)

const (
	maxQuery  = 4000 // bytes of a query
	maxQuoted = 300  // characters of an error, which may quote values
)

// limits are what one query may use. Bytes are counted about, as written out.
type limits struct {
	time  time.Duration
	value int // bytes of one value that it makes, and of its results together
	total int // bytes of all that it makes
}

var selectLimits = limits{time: 2 * time.Second, value: maxMade, total: 256 << 20}

type selectParams struct {
	Value any    `json:"value" jsonschema:"The JSON value to select from."`
	Query string `json:"query" jsonschema:"A jq expression such as .items[] | select(.price > 10) | .name; it reads and computes, it does not assign."`
	All   bool   `json:"all,omitempty" jsonschema:"Whether all results are given, as a list, instead of the first."`
}

func registerSelectJSON(r *tools.Registry) {
	tools.Register(r, "selectJSON", selectJSON, tools.Pure(),
		tools.Describe("Selects from a JSON value with jq: the first result, null where there is none, or with all a list of every result."))
}

func selectJSON(ctx context.Context, in selectParams) (any, error) {
	return selectWithin(ctx, in, selectLimits)
}

func selectWithin(ctx context.Context, in selectParams, most limits) (any, error) {
	code, err := compileQuery(in.Query, most)
	if err != nil {
		return nil, tools.Final(fmt.Errorf("query: %w", err))
	}
	limited, cancel := context.WithTimeout(ctx, most.time)
	defer cancel()
	results, err := runQuery(limited, code, in, most.value)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, tools.Final(fmt.Errorf("query: it took more than %v", most.time))
	case err != nil:
		return nil, tools.Final(fmt.Errorf("query: %w", err))
	case in.All:
		return results, nil
	case len(results) == 0:
		return nil, nil
	}
	return results[0], nil
}

// compileQuery compiles a query whose every construction is counted (see
// queryGuard); there is no environment, no input and no module to reach.
func compileQuery(text string, most limits) (*gojq.Code, error) {
	if len(text) > maxQuery {
		return nil, fmt.Errorf("it is over %d bytes", maxQuery)
	}
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	if err := (queryGuard{}).query(query); err != nil {
		return nil, err
	}
	query.FuncDefs = prelude
	spent := &budget{limits: most}
	return gojq.Compile(query,
		gojq.WithFunction("_charge", 0, 0, spent.charge),
		gojq.WithFunction("_step", 0, 0, spent.step),
		gojq.WithFunction("_size", 0, 0, spent.size))
}

func runQuery(ctx context.Context, code *gojq.Code, in selectParams, most int) ([]any, error) {
	results, size := []any{}, 0
	for it := code.RunWithContext(ctx, in.Value); ; {
		v, ok := it.Next()
		if !ok {
			return results, nil
		}
		if err, failed := v.(error); failed {
			return nil, errors.New(jsonval.Clip(strings.TrimPrefix(err.Error(), "error: "), maxQuoted))
		}
		size += sizeOf(v, most)
		if size > most {
			return nil, errors.New("its results are too large")
		}
		plain, err := plainJSON(v)
		if err != nil {
			return nil, err
		}
		results = append(results, plain)
		if !in.All {
			return results, nil
		}
	}
}

// plainJSON turns the interpreter's own numbers into JSON numbers.
func plainJSON(v any) (any, error) {
	raw, err := gojq.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out any
	err = d.Decode(&out)
	return out, err
}
