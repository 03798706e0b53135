package chain

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// tips remembers the latest Idea of the processes that were sealed last, so that the next one is stored without reading
// the one before. What it remembers is bounded by its bytes.
type tips struct {
	mu     sync.Mutex
	states *simplelru.LRU[string, *state]
	bytes  int
}

const (
	mostTips     = 1024
	mostTipBytes = 32 << 20
)

func newTips() *tips {
	t := &tips{}
	// The only error is that of a size below one.
	t.states, _ = simplelru.NewLRU(mostTips, func(_ string, st *state) { t.bytes -= st.weight() })
	return t
}

// of gives the remembered Idea of a process if it has the digest; else nil.
func (t *tips) of(process, digest string) *state {
	t.mu.Lock()
	defer t.mu.Unlock()
	if st, ok := t.states.Get(process); ok && st.digest == digest {
		return st
	}
	return nil
}

// keep remembers an Idea in place of the process's one before.
func (t *tips) keep(process string, st *state) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.states.Remove(process)
	if st.weight() > mostTipBytes {
		return
	}
	t.states.Add(process, st)
	for t.bytes += st.weight(); t.bytes > mostTipBytes; {
		t.states.RemoveOldest()
	}
}
