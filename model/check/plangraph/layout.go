package plangraph

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Sizes of a drawing, in pixels.
const (
	letterWidth, lineHeight = 7.3, 16.0 // of a monospaced font of 12 pixels
	boxPadding              = 10.0
	gapBeside, gapBelow     = 24.0, 52.0
	margin                  = 16.0
)

// placedNode is a node with its box.
type placedNode struct {
	graphNode
	x, y, width, height float64
	layer               int
}

func (n *placedNode) middle() float64 { return n.x + n.width/2 }

// layout is a graph in layers: readers are below the Calls that they read from.
type layout struct {
	nodes         []*placedNode // as in the graph
	layers        [][]*placedNode
	edges         []graphEdge
	width, height float64
	labels        Labels

	byID  map[string]*placedNode
	above map[*placedNode][]*placedNode // by node, the nodes whose edges lead to it
}

func newLayout(g *graph) *layout {
	l := &layout{edges: g.edges, labels: g.labels, byID: map[string]*placedNode{},
		above: map[*placedNode][]*placedNode{}}
	for _, n := range g.nodes {
		p := &placedNode{graphNode: n, layer: -1, height: lineHeight*float64(len(n.labelLines)) + boxPadding}
		for _, line := range n.labelLines {
			p.width = max(p.width, letterWidth*float64(utf8.RuneCountInString(singleLine(line)))+2*boxPadding)
		}
		l.nodes, l.byID[n.id] = append(l.nodes, p), p
	}
	for _, e := range g.edges {
		if from, to := l.byID[e.from], l.byID[e.to]; from != to {
			l.above[to] = append(l.above[to], from)
		}
	}
	l.assignLayers()
	l.orderLayers()
	l.placeNodes()
	return l
}

// assignLayers puts each node below all nodes whose edges lead to it. In a cycle, the edge that closes it is ignored.
func (l *layout) assignLayers() {
	open := map[*placedNode]bool{}
	var visit func(n *placedNode) int
	visit = func(n *placedNode) int {
		if n.layer >= 0 || open[n] {
			return n.layer
		}
		open[n] = true
		layer := 0
		for _, from := range l.above[n] {
			layer = max(layer, visit(from)+1)
		}
		n.layer, open[n] = layer, false
		return layer
	}
	for _, n := range l.nodes {
		visit(n)
	}
	for _, n := range l.nodes { // a value that nobody writes is just above its first reader
		if n.kind != nodeCall {
			n.layer = l.firstReader(n) - 1
		}
	}
	for _, n := range l.nodes {
		for len(l.layers) <= n.layer {
			l.layers = append(l.layers, nil)
		}
		l.layers[n.layer] = append(l.layers[n.layer], n)
	}
}

func (l *layout) firstReader(n *placedNode) int {
	first := 0
	for _, e := range l.edges {
		if e.from == n.id && (first == 0 || l.byID[e.to].layer < first) {
			first = l.byID[e.to].layer
		}
	}
	return max(first, 1)
}

// orderLayers moves each node near to the nodes that it reads from, so that few edges cross.
func (l *layout) orderLayers() {
	position := map[*placedNode]float64{}
	for _, layer := range l.layers {
		mean := map[*placedNode]float64{}
		for n, node := range layer {
			sum := 0.0
			for _, from := range l.above[node] {
				sum += position[from]
			}
			if mean[node] = float64(n) / float64(len(layer)); len(l.above[node]) > 0 {
				mean[node] = sum / float64(len(l.above[node]))
			}
		}
		slices.SortStableFunc(layer, func(a, b *placedNode) int { return cmp.Compare(mean[a], mean[b]) })
		for n, node := range layer {
			position[node] = (float64(n) + 0.5) / float64(len(layer))
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
			x += n.width + gapBeside
			height = max(height, n.height)
		}
		widths[k] = x - gapBeside
		l.width = max(l.width, widths[k])
		y += height + gapBelow
	}
	for k, layer := range l.layers {
		for _, n := range layer {
			n.x += margin + (l.width-widths[k])/2
		}
	}
	l.width, l.height = l.width+2*margin, max(y-gapBelow, margin)+margin
}
