package blobs

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Recent is a cache of the most recently used values, by key, bounded by their total size. It is safe for concurrent
// use.
type Recent[V any] struct {
	mu        sync.Mutex
	lru       *simplelru.LRU[string, V] // guarded by mu, like usedBytes
	usedBytes int                       // the sum of the sizes
	room      int
	size      func(V) int
}

// NewRecent returns a cache of at most entries values with a total size of at most room bytes, as size measures them.
func NewRecent[V any](entries, room int, size func(V) int) *Recent[V] {
	r := &Recent[V]{room: room, size: size}
	// NewLRU fails only for a size below one.
	r.lru, _ = simplelru.NewLRU(entries, func(_ string, v V) { r.usedBytes -= size(v) })
	return r
}

// Get returns the value of a key, and whether the cache has one.
func (r *Recent[V]) Get(key string) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lru.Get(key)
}

// Keep stores a value in place of the key's previous one. A value larger than the whole cache is not kept.
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

// Remove removes the value of a key.
func (r *Recent[V]) Remove(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lru.Remove(key)
}

// Purge removes all values.
func (r *Recent[V]) Purge() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lru.Purge()
}
