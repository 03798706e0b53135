package display

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/protocol"
)

// Attributes are the search attributes of a workflow. Registered is whether they are registered with the server: where they
// are not, nothing is set.
type Attributes struct{ Registered bool }

var (
	awaiting = temporal.NewSearchAttributeKeyInt64(protocol.AttributeAwaiting)
	status   = temporal.NewSearchAttributeKeyKeyword(protocol.AttributeStatus)
)

// SetAwaiting sets how many Calls wait for a person.
func (a Attributes) SetAwaiting(ctx workflow.Context, count int) {
	if !a.Registered {
		return
	}
	now, _ := workflow.GetTypedSearchAttributes(ctx).GetInt64(awaiting)
	if now != int64(count) {
		upsert(ctx, awaiting.ValueSet(int64(count)))
	}
}

// SetStatus sets a process's status.
func (a Attributes) SetStatus(ctx workflow.Context, to string) {
	if !a.Registered {
		return
	}
	now, ok := workflow.GetTypedSearchAttributes(ctx).GetKeyword(status)
	if !ok || now != to {
		upsert(ctx, status.ValueSet(to))
	}
}

func upsert(ctx workflow.Context, update temporal.SearchAttributeUpdate) {
	err := workflow.UpsertTypedSearchAttributes(ctx, update)
	if err != nil {
		workflow.GetLogger(ctx).Warn("a search attribute could not be set", "error", err)
	}
}
