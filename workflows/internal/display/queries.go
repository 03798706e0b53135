package display

import "go.temporal.io/sdk/workflow"

// Query is a question that a workflow answers, with a description for people.
type Query struct {
	Name        string
	Handler     any
	Description string
}

// RegisterQueries registers the queries that a workflow answers.
func RegisterQueries(ctx workflow.Context, queries []Query) error {
	for _, q := range queries {
		err := workflow.SetQueryHandlerWithOptions(ctx, q.Name, q.Handler,
			workflow.QueryHandlerOptions{Description: q.Description})
		if err != nil {
			return err
		}
	}
	return nil
}
