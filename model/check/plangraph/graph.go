package plangraph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// graph is a Plan as nodes and edges, both in the order of the Plan.
type graph struct {
	labels             Labels
	nodes              []graphNode
	edges              []graphEdge
	calls              []graphCall
	nodeIDByGivenValue map[string]string // ids of the nodes for values that no Call writes, by Reference
}

type nodeKind int

const (
	nodeCall  nodeKind = iota
	nodeInput          // a value from outside State
	nodeState          // a value in State that no Call of the Plan writes
)

type graphNode struct {
	id         string
	kind       nodeKind
	labelLines []string
	// countByStatus are the instances in which the Call of the node has each status; empty: unknown.
	countByStatus map[ideafile.CallStatus]int
}

type graphEdge struct {
	fromNodeID, toNodeID, label string
	isDashed                    bool
}

// newGraph adds all Calls first, because a Call may read what a later one writes.
func newGraph(calls []any, labels Labels) *graph {
	writtenCalls := ideafile.ParseWrittenCalls(calls)
	g := &graph{labels: labels.withParamTitles(writtenCalls), nodeIDByGivenValue: map[string]string{}}
	for n, call := range writtenCalls {
		g.addCall(n, call)
	}
	for n := range g.calls {
		g.connectWriters(n)
	}
	for n := range g.calls {
		g.connectAwaitedCalls(n)
		g.connectCondition(n)
		g.connectAlternativeWriter(n)
	}
	return g
}

// addCall adds the nth Call and its node.
func (g *graph) addCall(callIndex int, call ideafile.WrittenCall) {
	toolName := cmp.Or(call.Tool, "?")
	c := graphCall{nodeID: fmt.Sprintf("c%d", callIndex+1)}
	c.instanceTokens = call.TargetTokens
	lines := g.labels.callLines(callIndex+1, toolName, c.instanceTokens)
	if m := call.RawObject(); m != nil {
		c.readRawCall(m)
	}
	if len(c.outputPaths) == 1 {
		lines = append(lines, "→ "+g.labels.pathLabel(c.outputPaths[0]))
	} else if len(c.outputPaths) > 1 {
		lines = append(lines, "→ "+g.labels.outputPathsLabel(c))
	}
	undoneCallID := jsonval.AsText(jsonval.AsObject(call.RawObject()[ideafile.UndoesKey])["call"])
	if undoneCallID != "" && g.labels.Presenter == nil {
		lines = append(lines, "undoes "+jsonval.Clip(undoneCallID, 60))
	}
	g.calls = append(g.calls, c)
	g.nodes = append(g.nodes, graphNode{id: c.nodeID, labelLines: lines})
}

// markStatuses adds the counts of CountCallStatuses to the labels and bars of Calls: of all, or only of those that were
// undone.
func (g *graph) markStatuses(statusCounts []map[ideafile.CallStatus]int, markAll bool) *graph {
	for n := range min(len(g.calls), len(statusCounts)) {
		line := g.labels.statusLine(statusCounts[n])
		if line != "" && (markAll || statusCounts[n][ideafile.CallUndone] > 0) {
			g.nodes[n].countByStatus, g.nodes[n].labelLines = statusCounts[n], append(g.nodes[n].labelLines, line)
		}
	}
	return g
}

// connectWriters adds an edge to the nth Call from each Call that writes what it reads. A value that no Call writes has
// a node of its own.
func (g *graph) connectWriters(callIndex int) {
	c := g.calls[callIndex]
	labelsBySourceID := map[string][]string{}
	var sourceIDs []string
	addSource := func(sourceID, label string) {
		sourceIDs, labelsBySourceID[sourceID] = jsonval.AppendNew(sourceIDs, sourceID),
			jsonval.AppendNew(labelsBySourceID[sourceID], label)
	}
	for _, ref := range c.reads {
		writerIndexes := g.writerIndexesOf(callIndex, ref)
		for _, w := range writerIndexes {
			addSource(g.calls[w].nodeID, g.labels.pathLabel(ref.Path))
		}
		if len(writerIndexes) == 0 {
			addSource(g.ensureGivenValueNode(ref), "")
		}
	}
	for _, sourceID := range sourceIDs {
		g.edges = append(g.edges, graphEdge{fromNodeID: sourceID, toNodeID: c.nodeID,
			label: strings.Join(labelsBySourceID[sourceID], ", ")})
	}
}

// connectAwaitedCalls adds a dashed edge to the nth Call from each Call that it is to come after.
func (g *graph) connectAwaitedCalls(callIndex int) {
	for _, ref := range g.calls[callIndex].afterReferences {
		awaitedIndexes := g.writerIndexesOf(callIndex, ref)
		if key, isCall := ideafile.CallOfReference(ref); isCall && key.Index <= len(g.calls) {
			awaitedIndexes = []int{key.Index - 1}
		}
		for _, w := range awaitedIndexes {
			if w != callIndex {
				g.addDashedEdge(g.calls[w].nodeID, callIndex, EdgeAfter)
			}
		}
	}
}

// addDashedEdge adds an edge to the nth Call, once.
func (g *graph) addDashedEdge(sourceID string, callIndex int, kind string) {
	g.edges = jsonval.AppendNew(g.edges, graphEdge{fromNodeID: sourceID, toNodeID: g.calls[callIndex].nodeID,
		label:    kind,
		isDashed: true})
}

// connectCondition adds a dashed edge to the nth Call from each Call, or given value, that its condition looks at.
func (g *graph) connectCondition(callIndex int) {
	for _, ref := range g.calls[callIndex].conditionReads {
		var sourceIDs []string
		for _, w := range g.writerIndexesOf(callIndex, ref) {
			if w < callIndex {
				sourceIDs = append(sourceIDs, g.calls[w].nodeID)
			}
		}
		if len(sourceIDs) == 0 {
			sourceIDs = []string{g.ensureGivenValueNode(ref)}
		}
		for _, sourceID := range sourceIDs {
			g.addDashedEdge(sourceID, callIndex, EdgeCondition)
		}
	}
}

// writerIndexesOf lists the Calls whose results the nth Call sees at a place. The nth Call itself is among them only if
// no other Call writes there.
func (g *graph) writerIndexesOf(readerIndex int, ref refexpr.Reference) []int {
	reader, readsSelf := g.calls[readerIndex], false
	if ref.Kind != ideafile.TypeState {
		return nil
	}
	var list []int
	for w, c := range g.calls {
		// Only Calls after an update see it, and a reader of the whole State sees the writes before it.
		isTooLate := w > readerIndex && (c.isUpdate || len(ref.Path) == 0)
		if !OverlapsAny(ref.Path, c.outputPaths) || !mayShareInstance(c.instanceTokens, reader.instanceTokens) ||
			isTooLate {
			continue
		}
		if w == readerIndex {
			readsSelf = !c.isUpdate && len(ref.Path) > 0
			continue
		}
		list = append(list, w)
	}
	if len(list) == 0 && readsSelf {
		list = []int{readerIndex}
	}
	return list
}

// mayShareInstance reports whether two Calls for these instances can work on the State of one instance. An empty list
// means all instances.
func mayShareInstance(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 ||
		slices.ContainsFunc(a, func(token string) bool { return slices.Contains(b, token) })
}

// ensureGivenValueNode returns the id of the node for a value that no Call writes. It adds the node if it is missing.
func (g *graph) ensureGivenValueNode(ref refexpr.Reference) string {
	refText := ref.String()
	if id, ok := g.nodeIDByGivenValue[refText]; ok {
		return id
	}
	n := graphNode{id: fmt.Sprintf("g%d", len(g.nodeIDByGivenValue)+1), kind: nodeInput,
		labelLines: []string{g.labels.referenceLabel(ref)}}
	if ref.Kind == ideafile.TypeState {
		n.kind = nodeState
	}
	g.nodeIDByGivenValue[refText] = n.id
	g.nodes = append(g.nodes, n)
	return n.id
}

// connectAlternativeWriter adds a dashed edge from the last Call before the nth that writes an overlapping path.
func (g *graph) connectAlternativeWriter(callIndex int) {
	c := g.calls[callIndex]
	overlapsOwnPath := func(p jsonval.Path) bool { return OverlapsAny(p, c.outputPaths) }
	for w := callIndex - 1; w >= 0 && !c.isUpdate; w-- {
		e := g.calls[w]
		if !e.isUpdate && slices.ContainsFunc(e.outputPaths, overlapsOwnPath) &&
			mayShareInstance(e.instanceTokens, c.instanceTokens) {
			g.addDashedEdge(e.nodeID, callIndex, EdgeAlternative)
			return
		}
	}
}

// OverlapsAny reports whether a path overlaps one of the list.
func OverlapsAny(p jsonval.Path, list []jsonval.Path) bool {
	return slices.ContainsFunc(list, p.Overlaps)
}
