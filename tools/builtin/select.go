package builtin

import (
	"context"
	"fmt"
	"math"
	"time"

	"processidea/tools"
	"processidea/tools/jq"
)

const maxQueryBytes = 4000 // bytes of a query

var selectLimits = jq.Limits{Timeout: 2 * time.Second, MaxValueBytes: maxResultBytes, MaxTotalBytes: 256 << 20}

type selectParams struct {
	Value any    `json:"value" jsonschema:"The JSON value to select from."`
	Query string `json:"query" jsonschema:"A jq expression such as .items[] | select(.price > 10) | .name; it reads and computes, it does not assign."`
	All   bool   `json:"all,omitempty" jsonschema:"Whether all results are given, as a list, instead of the first."`
}

func selectJSON(ctx context.Context, in selectParams) (any, error) {
	return selectWithLimits(ctx, in, selectLimits)
}

func selectWithLimits(ctx context.Context, in selectParams, limits jq.Limits) (any, error) {
	if len(in.Query) > maxQueryBytes {
		return nil, tools.Final(fmt.Errorf("query: it is over %d bytes", maxQueryBytes))
	}
	query, err := jq.Compile(in.Query, limits)
	if err != nil {
		return nil, tools.Final(fmt.Errorf("query: %w", err))
	}
	maxResults := 1
	if in.All {
		maxResults = math.MaxInt
	}
	results, err := query.Run(ctx, in.Value, maxResults)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, tools.Final(fmt.Errorf("query: %w", err))
	case in.All:
		return results, nil
	case len(results) == 0:
		return nil, nil
	}
	return results[0], nil
}
