package plangraph

import (
	"slices"
	"strconv"
	"strings"
)

// Edge leads to a Call of a Plan: from a Call that writes its input, from a Call that it waits for, or from a value
// that no Call of the Plan writes.
type Edge struct {
	// FromCallNumber and ToCallNumber are the places of Calls in the Plan, from 1; FromCallNumber is 0 where
	// GivenValueLabel is set.
	FromCallNumber int `json:"from,omitempty"`
	ToCallNumber   int `json:"to"`
	// GivenValueLabel is the Reference of a value that no Call of the Plan writes.
	GivenValueLabel string `json:"given,omitempty"`
	// PathsLabel are the paths in State that are read, as in the picture; empty if GivenValueLabel is set, and for
	// other kinds of edges.
	PathsLabel string `json:"paths,omitempty"`
	Kind       string `json:"kind"`
}

// The kinds of Edges.
const (
	EdgeReads       = "reads" // a parameter reads the value written there
	EdgeAfter       = "after" // the Call waits for the other, and reads nothing of it
	EdgeCondition   = "if"    // the Call's condition reads the value
	EdgeAlternative = "or"    // both write one path: the first one counts
)

// ReadsOtherCall reports whether the Call at a place reads what another Call of the Plan writes.
func ReadsOtherCall(edges []Edge, callNumber int) bool {
	return slices.ContainsFunc(edges, func(e Edge) bool {
		return e.ToCallNumber == callNumber && e.FromCallNumber > 0 && e.Kind == EdgeReads
	})
}

// ListEdges lists the edges of a Plan, in the order in which its Calls are written. Given and Paths are named by
// labels.
func ListEdges(calls []any, labels Labels) []Edge {
	g := newGraph(calls, labels)
	labelByNodeID := map[string]string{}
	for _, n := range g.nodes {
		if n.kind != nodeCall {
			labelByNodeID[n.id] = strings.Join(n.labelLines, " ")
		}
	}
	callNumberOf := func(id string) int { n, _ := strconv.Atoi(strings.TrimPrefix(id, "c")); return n }
	list := []Edge{}
	for _, e := range g.edges {
		edge := Edge{ToCallNumber: callNumberOf(e.toNodeID), Kind: EdgeReads,
			GivenValueLabel: labelByNodeID[e.fromNodeID]}
		if edge.GivenValueLabel == "" {
			edge.FromCallNumber = callNumberOf(e.fromNodeID)
		}
		if e.isDashed {
			edge.Kind = e.label
		} else {
			edge.PathsLabel = e.label
		}
		list = append(list, edge)
	}
	return list
}
