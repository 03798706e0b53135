package jsonschema

import "sync"

// Cache remembers the results of a pure function by its argument. The zero value is an empty cache.
type Cache[K comparable, V any] struct {
	mu          sync.Mutex
	resultByKey map[K]V // guarded by mu
	totalBytes  int     // guarded by mu: of the results
	maxBytes    int     // beyond which the cache is emptied; 0: only the number of results is bounded
}

const maxCachedResults = 4096 // results, after which the cache is emptied

// Get gives the result that was put under a key.
func (c *Cache[K, V]) Get(key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok = c.resultByKey[key]
	return v, ok
}

// Put stores a result under a key. bytes is its size.
func (c *Cache[K, V]) Put(key K, v V, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	isTooLarge := c.maxBytes > 0 && c.totalBytes+bytes > c.maxBytes
	if c.resultByKey == nil || len(c.resultByKey) >= maxCachedResults || isTooLarge {
		c.resultByKey, c.totalBytes = map[K]V{}, 0
	}
	c.resultByKey[key] = v
	c.totalBytes += bytes
}
