package mailbox

import "go.temporal.io/sdk/workflow"

// selectorSource is what the selector of an Inbox listens to: a channel or a future.
type selectorSource struct {
	addToSelector func(workflow.Selector) // nil once the source is finished
}

// maxSpentSources bounds the number of finished sources that are kept. A selector never drops a source or its value, so
// that it would keep all results of activities.
const maxSpentSources = 8

func (b *Inbox) addSource(s *selectorSource) {
	b.sources = append(b.sources, s)
	s.addToSelector(b.selector)
}

// OnChannelReceive calls back, from Wait or Drain, whenever a channel has something to receive.
func (b *Inbox) OnChannelReceive(c workflow.ReceiveChannel, callback func(workflow.ReceiveChannel)) {
	s := &selectorSource{}
	s.addToSelector = func(selector workflow.Selector) {
		selector.AddReceive(c, func(c workflow.ReceiveChannel, more bool) {
			if !more {
				b.markSpent(s) // a closed channel would be ready for ever
			}
			callback(c)
		})
	}
	b.addSource(s)
}

func (b *Inbox) markSpent(s *selectorSource) {
	s.addToSelector = nil
	b.spentSourceCount++
}

// dropSpentSources makes a new selector without the finished sources. Of several ready sources, the one that was added
// first still comes first.
func (b *Inbox) dropSpentSources(ctx workflow.Context) {
	if b.spentSourceCount <= maxSpentSources {
		return
	}
	var live []*selectorSource
	b.selector, b.spentSourceCount = workflow.NewSelector(ctx), 0
	for _, s := range b.sources {
		if s.addToSelector != nil {
			live = append(live, s)
			s.addToSelector(b.selector)
		}
	}
	b.sources = live
}
