package split

import (
	"slices"

	"processidea/model/jsonval"
)

// MessageIndex finds the Messages of a part among those of all instances. A look at each of them for each part would
// take minutes where there are a hundred thousand.
type MessageIndex struct {
	context          []any
	sharedPositions  []int // Messages for all instances
	positionsByToken map[string][]int
}

// NewMessageIndex indexes the Messages of a context.
func NewMessageIndex(context []any) *MessageIndex {
	x := &MessageIndex{context: context, positionsByToken: map[string][]int{}}
	for position, raw := range context {
		if token := jsonval.AsText(jsonval.AsObject(raw)["_instance"]); token != "" {
			x.positionsByToken[token] = append(x.positionsByToken[token], position)
		} else {
			x.sharedPositions = append(x.sharedPositions, position)
		}
	}
	return x
}

// MessagesOf returns the Messages that a part sees, in their order.
func (x *MessageIndex) MessagesOf(part Part) []any {
	positions := slices.Clone(x.sharedPositions)
	for _, token := range part.InstanceTokens {
		positions = append(positions, x.positionsByToken[token]...)
	}
	slices.Sort(positions)
	return jsonval.Map(positions, func(position int) any { return x.context[position] })
}
