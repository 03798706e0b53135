package jsonschema

import "sync"

// Cache remembers the results of a pure function by the text of its argument. The zero value is an empty cache.
type Cache[V any] struct {
	mu sync.Mutex
	m  map[string]V // guarded by mu
}

const cacheSize = 4096 // results, after which the cache is emptied

// Get gives the result that was put under a key.
func (c *Cache[V]) Get(key string) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok = c.m[key]
	return v, ok
}

// Put remembers a result under a key.
func (c *Cache[V]) Put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= cacheSize {
		c.m = map[string]V{}
	}
	c.m[key] = v
}
