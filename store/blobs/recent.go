package blobs

import (
	"bytes"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// LRU is a cache of the most recently used values, by key, bounded by their total size. It is safe for concurrent
// use.
type LRU[V any] struct {
	mu        sync.Mutex
	lru       *simplelru.LRU[string, V] // guarded by mu, like usedBytes
	usedBytes int                       // the sum of the sizes
	maxBytes  int
	sizeOf    func(V) int
}

// NewLRU returns a cache of at most maxEntries values with a total size of at most maxBytes, as sizeOf measures them.
func NewLRU[V any](maxEntries, maxBytes int, sizeOf func(V) int) *LRU[V] {
	r := &LRU[V]{maxBytes: maxBytes, sizeOf: sizeOf}
	// NewLRU fails only for a size below one.
	r.lru, _ = simplelru.NewLRU(maxEntries, func(_ string, v V) { r.usedBytes -= sizeOf(v) })
	return r
}

// Get returns the value of a key, and whether the cache has one.
func (r *LRU[V]) Get(key string) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lru.Get(key)
}

// Put stores a value in place of the key's previous one. A value larger than the whole cache is not kept.
func (r *LRU[V]) Put(key string, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lru.Remove(key)
	if r.sizeOf(v) > r.maxBytes {
		return
	}
	r.lru.Add(key, v)
	for r.usedBytes += r.sizeOf(v); r.usedBytes > r.maxBytes; {
		r.lru.RemoveOldest()
	}
}

// Remove removes the value of a key.
func (r *LRU[V]) Remove(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lru.Remove(key)
}

// Purge removes all values.
func (r *LRU[V]) Purge() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lru.Purge()
}

const (
	// DefaultCacheBytes is the default size of a store's cache of values in memory.
	DefaultCacheBytes = 32 << 20
	// maxCachedValueBytes bounds the cached values, in bytes; larger ones are read from the store each time.
	maxCachedValueBytes = 256 << 10
	// entryOverheadBytes is about the overhead of a cached value.
	entryOverheadBytes = 256
)

// cache keeps the most recently used values, by digest.
type cache struct{ *LRU[[]byte] }

func newCache(maxBytes int) cache {
	return cache{NewLRU(max(1, maxBytes/entryOverheadBytes), maxBytes,
		func(data []byte) int { return len(data) + entryOverheadBytes })}
}

// add keeps a copy, because data may be a slice of something large, which the cache would otherwise retain.
func (c cache) add(digest string, data []byte) {
	if len(data) <= maxCachedValueBytes {
		c.Put(digest, bytes.Clone(data))
	}
}
