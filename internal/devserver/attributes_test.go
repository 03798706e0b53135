package devserver_test

import (
	"fmt"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"processidea/internal/devserver"
)

type attributes = map[string]enumspb.IndexedValueType

func keyword(name string) temporal.SearchAttributeKeyKeyword {
	return temporal.NewSearchAttributeKeyKeyword(name)
}

func TestASearchAttributeCanBeUsedAtOnceAndAfterARestart(t *testing.T) {
	o := devserver.Options{Dir: t.TempDir(), UIPort: -1, SearchAttributes: attributes{
		"IdeaStatus": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	}}
	for _, id := range []string{"first", "second"} {
		s := start(t, o)
		c := dial(t, s)
		startMarked(t, c, id, "IdeaStatus", "paused")
		upsertMark(t, c, id+" upserted", "IdeaStatus", "paused")
		listed(t, c, fmt.Sprintf("IdeaStatus = 'paused' AND WorkflowId = '%s'", id))
		listed(t, c, fmt.Sprintf("IdeaStatus = 'paused' AND WorkflowId = '%s upserted'", id))
		listed(t, c, "IdeaStatus = 'paused' AND WorkflowId = 'first'")
		s.Stop()
	}
}

func TestASearchAttributeAddedLaterCanBeUsedAtOnce(t *testing.T) {
	o := devserver.Options{Dir: t.TempDir(), UIPort: -1}
	start(t, o).Stop()
	o.SearchAttributes = attributes{
		"IdeaPath":     enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		"IdeaAwaiting": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	}
	c := dial(t, start(t, o))
	upsertMark(t, c, "one", "IdeaPath", "a/b.json")
	listed(t, c, "IdeaPath = 'a/b.json'")
}

func TestEveryTypeOfSearchAttributeIsRegistered(t *testing.T) {
	all := attributes{}
	for kind, name := range enumspb.IndexedValueType_name {
		if kind != int32(enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED) {
			all["My"+name] = enumspb.IndexedValueType(kind)
		}
	}
	start(t, devserver.Options{Dir: t.TempDir(), UIPort: -1, SearchAttributes: all})
}

func TestASearchAttributeOfAnotherTypeIsAnError(t *testing.T) {
	o := devserver.Options{Dir: t.TempDir(), UIPort: -1, SearchAttributes: attributes{
		"IdeaStatus": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	}}
	start(t, o).Stop()
	o.SearchAttributes = attributes{"IdeaStatus": enumspb.INDEXED_VALUE_TYPE_INT}
	_, err := devserver.Start(within(t), o)
	wantError(t, err, "devserver: register search attributes in default: IdeaStatus is of type Keyword, not Int")
}

func TestTooManySearchAttributesAreAnError(t *testing.T) {
	many := attributes{}
	for i := range 100 {
		many[fmt.Sprintf("Number%d", i)] = enumspb.INDEXED_VALUE_TYPE_INT
	}
	_, err := devserver.Start(within(t), devserver.Options{Dir: t.TempDir(), UIPort: -1, SearchAttributes: many})
	wantError(t, err, "devserver: register search attributes in default: ")
}

func startMarked(t *testing.T, c client.Client, id, name, value string) {
	t.Helper()
	_, err := c.ExecuteWorkflow(within(t), client.StartWorkflowOptions{
		ID: id, TaskQueue: queue,
		TypedSearchAttributes: temporal.NewSearchAttributes(keyword(name).ValueSet(value)),
	}, greet)
	if err != nil {
		t.Fatal(err)
	}
}

func upsertMark(t *testing.T, c client.Client, id, name, value string) {
	t.Helper()
	ctx := within(t)
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: queue}, mark, name, value)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Get(ctx, nil); err != nil {
		t.Fatal(err)
	}
}

// listed waits until the filter finds exactly one workflow: lists follow a moment later.
func listed(t *testing.T, c client.Client, query string) {
	t.Helper()
	ctx := within(t)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		found, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Executions) == 1 {
			return
		}
	}
}
