package plangraph

import (
	"slices"
	"strconv"
	"strings"
)

// Edge leads to a Call of a Plan: from a Call that writes its input, from a Call that it waits for, or from a value
// that no Call of the Plan writes.
type Edge struct {
	// From and To are the places of Calls in the Plan, from 1; From is 0 where Given is set.
	From int `json:"from,omitempty"`
	To   int `json:"to"`
	// Given is the Reference of a value that no Call of the Plan writes.
	Given string `json:"given,omitempty"`
	// Paths are the paths in State that are read, as in the picture; empty if Given is set, and for other kinds of
	// edges.
	Paths string `json:"paths,omitempty"`
	Kind  string `json:"kind"`
}

// The kinds of Edges.
const (
	EdgeReads = "reads" // a parameter reads the value written there
	EdgeAfter = "after" // the Call waits for the other, and reads nothing of it
	EdgeIf    = "if"    // the Call's condition reads the value
	EdgeOr    = "or"    // both write one path: the first one counts
)

// ReadsAnother reports whether the Call at a place reads what another Call of the Plan writes.
func ReadsAnother(edges []Edge, place int) bool {
	return slices.ContainsFunc(edges, func(e Edge) bool { return e.To == place && e.From > 0 && e.Kind == EdgeReads })
}

// Edges lists the edges of a Plan, in the order in which its Calls are written. Given and Paths are named by labels.
func Edges(calls []any, labels Labels) []Edge {
	g := newGraph(calls, labels)
	given := map[string]string{}
	for _, n := range g.nodes {
		if n.kind != nodeCall {
			given[n.id] = strings.Join(n.labelLines, " ")
		}
	}
	place := func(id string) int { n, _ := strconv.Atoi(strings.TrimPrefix(id, "c")); return n }
	list := []Edge{}
	for _, e := range g.edges {
		edge := Edge{To: place(e.to), Kind: EdgeReads, Given: given[e.from]}
		if edge.Given == "" {
			edge.From = place(e.from)
		}
		if e.dashed {
			edge.Kind = e.label
		} else {
			edge.Paths = e.label
		}
		list = append(list, edge)
	}
	return list
}
