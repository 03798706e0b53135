package blobs

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Recent keeps what was used last, by a key, up to so many bytes in all. It is safe for concurrent use.
type Recent[V any] struct {
	mu        sync.Mutex
	lru       *simplelru.LRU[string, V] // guarded by mu, as is what follows
	usedBytes int                       // bytes
	room      int
	size      func(V) int
}

// NewRecent keeps so many entries at most, of so many bytes.
func NewRecent[V any](entries, room int, size func(V) int) *Recent[V] {
	r := &Recent[V]{room: room, size: size}
	// It fails only for a size below one.
	r.lru, _ = simplelru.NewLRU(entries, func(_ string, v V) { r.usedBytes -= size(v) })
	return r
}

// Get gives what is kept.
func (r *Recent[V]) Get(key string) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lru.Get(key)
}

// Keep keeps something in place of what was there.
func (r *Recent[V]) Keep(key string, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lru.Remove(key)
	if r.size(v) > r.room {
		return
	}
	r.lru.Add(key, v)
	for r.usedBytes += r.size(v); r.usedBytes > r.room; {
		r.lru.RemoveOldest()
	}
}

// Remove lets go of one.
func (r *Recent[V]) Remove(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lru.Remove(key)
}

// Purge lets go of all.
func (r *Recent[V]) Purge() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lru.Purge()
}
