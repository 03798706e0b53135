package display

import (
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/protocol"
)

// SearchAttributes are the search attributes of a workflow. If AreRegistered is false, the server does not have them,
// and nothing is set.
type SearchAttributes struct{ AreRegistered bool }

var (
	ideaPathAttribute      = temporal.NewSearchAttributeKeyKeyword(protocol.AttributePath)
	awaitingCountAttribute = temporal.NewSearchAttributeKeyInt64(protocol.AttributePendingDecisions)
	statusAttribute        = temporal.NewSearchAttributeKeyKeyword(protocol.AttributeStatus)
)

// maxIdeaPathBytes is the limit of all databases that Temporal uses.
const maxIdeaPathBytes = 255 // bytes

// ForChildStart returns the attributes with which a child of a process starts, so that a search for an Idea's path
// finds it too.
func (a SearchAttributes) ForChildStart(ideaPath string) temporal.SearchAttributes {
	if !a.AreRegistered || ideaPath == "" {
		return temporal.SearchAttributes{}
	}
	if len(ideaPath) > maxIdeaPathBytes {
		ideaPath = strings.ToValidUTF8(ideaPath[:maxIdeaPathBytes], "")
	}
	return temporal.NewSearchAttributes(ideaPathAttribute.ValueSet(ideaPath))
}

// SetAwaitingCount sets how many Calls wait for a person.
func (a SearchAttributes) SetAwaitingCount(ctx workflow.Context, count int) {
	if !a.AreRegistered {
		return
	}
	current, _ := workflow.GetTypedSearchAttributes(ctx).GetInt64(awaitingCountAttribute)
	if current != int64(count) {
		upsertSearchAttribute(ctx, awaitingCountAttribute.ValueSet(int64(count)))
	}
}

// SetStatus sets a process's status.
func (a SearchAttributes) SetStatus(ctx workflow.Context, status string) {
	if !a.AreRegistered {
		return
	}
	current, ok := workflow.GetTypedSearchAttributes(ctx).GetKeyword(statusAttribute)
	if !ok || current != status {
		upsertSearchAttribute(ctx, statusAttribute.ValueSet(status))
	}
}

func upsertSearchAttribute(ctx workflow.Context, update temporal.SearchAttributeUpdate) {
	err := workflow.UpsertTypedSearchAttributes(ctx, update)
	if err != nil {
		workflow.GetLogger(ctx).Warn("a search attribute could not be set", "error", err)
	}
}
