package display

import "go.temporal.io/sdk/workflow"

// Query is a question that a workflow answers, with a description for people.
type Query struct {
	Name        string
	Handler     any
	Description string
}

// Answer registers the queries that a workflow answers.
func Answer(ctx workflow.Context, queries []Query) error {
	for _, q := range queries {
		err := workflow.SetQueryHandlerWithOptions(ctx, q.Name, q.Handler, workflow.QueryHandlerOptions{Description: q.Description})
		if err != nil {
			return err
		}
	}
	return nil
}
