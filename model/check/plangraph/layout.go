package plangraph

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Sizes of a drawing, in pixels.
const (
	letterWidth, lineHeight    = 7.3, 16.0 // of 12 pixels; few words are wider by the letter
	boxPadding                 = 10.0
	horizontalGap, verticalGap = 24.0, 52.0
	margin                     = 16.0
)

// placedNode is a node with its box.
type placedNode struct {
	graphNode
	x, y, width, height float64
	layer               int
}

func (n *placedNode) centerX() float64 { return n.x + n.width/2 }

// layout is a graph in layers: readers are below the Calls that they read from.
type layout struct {
	nodes         []*placedNode // as in the graph
	layers        [][]*placedNode
	edges         []graphEdge
	width, height float64
	labels        Labels
	colors        Palette

	nodeByID     map[string]*placedNode
	predecessors map[*placedNode][]*placedNode // by node, the nodes whose edges lead to it
}

func newLayout(g *graph) *layout {
	l := &layout{edges: g.edges, labels: g.labels, nodeByID: map[string]*placedNode{},
		predecessors: map[*placedNode][]*placedNode{}}
	for _, n := range g.nodes {
		p := &placedNode{graphNode: n, layer: -1, height: lineHeight*float64(len(n.labelLines)) + boxPadding}
		for _, line := range n.labelLines {
			p.width = max(p.width, letterWidth*float64(utf8.RuneCountInString(singleLine(line)))+2*boxPadding)
		}
		if len(n.countByStatus) > 0 {
			p.height += barHeight + boxPadding/2
		}
		l.nodes, l.nodeByID[n.id] = append(l.nodes, p), p
	}
	for _, e := range g.edges {
		if source, target := l.nodeByID[e.fromNodeID], l.nodeByID[e.toNodeID]; source != target {
			l.predecessors[target] = append(l.predecessors[target], source)
		}
	}
	l.assignLayers()
	l.orderLayers()
	l.placeNodes()
	return l
}

// assignLayers puts each node below all nodes whose edges lead to it. In a cycle, the edge that closes it is ignored.
func (l *layout) assignLayers() {
	isVisiting := map[*placedNode]bool{}
	var visit func(n *placedNode) int
	visit = func(n *placedNode) int {
		if n.layer >= 0 || isVisiting[n] {
			return n.layer
		}
		isVisiting[n] = true
		layer := 0
		for _, source := range l.predecessors[n] {
			layer = max(layer, visit(source)+1)
		}
		n.layer, isVisiting[n] = layer, false
		return layer
	}
	for _, n := range l.nodes {
		visit(n)
	}
	for _, n := range l.nodes { // a value that nobody writes is just above its first reader
		if n.kind != nodeCall {
			n.layer = l.firstReaderLayer(n) - 1
		}
	}
	for _, n := range l.nodes {
		for len(l.layers) <= n.layer {
			l.layers = append(l.layers, nil)
		}
		l.layers[n.layer] = append(l.layers[n.layer], n)
	}
}

func (l *layout) firstReaderLayer(n *placedNode) int {
	firstLayer := 0
	for _, e := range l.edges {
		if e.fromNodeID == n.id && (firstLayer == 0 || l.nodeByID[e.toNodeID].layer < firstLayer) {
			firstLayer = l.nodeByID[e.toNodeID].layer
		}
	}
	return max(firstLayer, 1)
}

// orderLayers moves each node near to the nodes that it reads from, so that few edges cross.
func (l *layout) orderLayers() {
	positionByNode := map[*placedNode]float64{}
	for _, layer := range l.layers {
		meanPositionByNode := map[*placedNode]float64{}
		for n, node := range layer {
			sum := 0.0
			for _, source := range l.predecessors[node] {
				sum += positionByNode[source]
			}
			if meanPositionByNode[node] = float64(n) / float64(len(layer)); len(l.predecessors[node]) > 0 {
				meanPositionByNode[node] = sum / float64(len(l.predecessors[node]))
			}
		}
		slices.SortStableFunc(layer, func(a, b *placedNode) int {
			return cmp.Compare(meanPositionByNode[a], meanPositionByNode[b])
		})
		for n, node := range layer {
			positionByNode[node] = (float64(n) + 0.5) / float64(len(layer))
		}
	}
}

// placeNodes gives every node its box: each layer is centred.
func (l *layout) placeNodes() {
	y := margin
	widths := make([]float64, len(l.layers))
	for k, layer := range l.layers {
		x, height := 0.0, 0.0
		for _, n := range layer {
			n.x, n.y = x, y
			x += n.width + horizontalGap
			height = max(height, n.height)
		}
		widths[k] = x - horizontalGap
		l.width = max(l.width, widths[k])
		y += height + verticalGap
	}
	for k, layer := range l.layers {
		for _, n := range layer {
			n.x += margin + (l.width-widths[k])/2
		}
	}
	l.width, l.height = l.width+2*margin, max(y-verticalGap, margin)+margin
}
