package blobs

import (
	"bytes"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// DefaultCacheBytes is how many bytes of values a store keeps in memory that was told nothing else.
	DefaultCacheBytes = 32 << 20
	// cacheLargest bounds the values that are kept, in bytes; larger ones are read again.
	cacheLargest = 256 << 10
	// cacheEntry is about what keeping a value takes beside its bytes.
	cacheEntry = 256
)

// cache keeps the values that were used last. It is safe for concurrent use.
type cache struct {
	mu    sync.Mutex
	last  *simplelru.LRU[string, []byte] // guarded by mu, as is what follows
	taken int                            // bytes
	room  int
}

func newCache(room int) *cache {
	c := &cache{room: room}
	c.last, _ = simplelru.NewLRU(max(1, room/cacheEntry),
		func(_ string, data []byte) { c.taken -= len(data) + cacheEntry })
	return c
}

func (c *cache) get(digest string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last.Get(digest)
}

// add keeps a copy: what it is given may be a piece of something large, which would be kept with it.
func (c *cache) add(digest string, data []byte) {
	if len(data) > cacheLargest || len(data)+cacheEntry > c.room {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.Contains(digest) {
		return
	}
	c.taken += len(data) + cacheEntry
	c.last.Add(digest, bytes.Clone(data))
	for c.taken > c.room {
		c.last.RemoveOldest()
	}
}

func (c *cache) remove(digest string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last.Remove(digest)
}

func (c *cache) purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last.Purge()
}
