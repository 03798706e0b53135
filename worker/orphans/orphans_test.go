package orphans

import (
	"testing"

	commonpb "go.temporal.io/api/common/v1"

	"processidea/protocol"
)

func TestOnlyChildrenOfProcessesCanBeOrphans(t *testing.T) {
	part := protocol.PartID("p", 1)
	deep := "p" // an id that those of its delegates shorten
	for len(deep) < 200 {
		deep = protocol.DelegateID(deep, "1.1@a")
	}
	for _, c := range []struct {
		parent, child string
		want          bool
	}{
		{"p", protocol.InstanceID("p", ""), true},
		{"p", part, true},
		{part, protocol.InstanceID(part, "a"), true},
		{protocol.InstanceID("p", "a"), protocol.DelegateID("p", "1.1@a"), true},
		{protocol.InstanceID(part, "a"), protocol.DelegateID(part, "1.1@a"), true},
		{protocol.InstanceID(deep, "a"), protocol.DelegateID(deep, "1.1@a"), true},
		{protocol.InstanceID(deep, "a"), protocol.DelegateID("q", "1.1@a"), false},
		{"", "p", false},                                 // somebody started it
		{"nightly", "p", false},                          // somebody's own workflow did
		{"nightly/2026", "nightly/2026-refunds", false},  // whatever it is called
		{protocol.InstanceID("p", "a"), "q/main", false}, // of another process
	} {
		if got := isStartedByProcess(&commonpb.WorkflowExecution{WorkflowId: c.parent},
			&commonpb.WorkflowExecution{WorkflowId: c.child}); got != c.want {
			t.Errorf("%s, started by %q: %v", c.child, c.parent, got)
		}
	}
}
