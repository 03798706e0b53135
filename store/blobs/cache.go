package blobs

import "bytes"

const (
	// DefaultCacheBytes is the default size of a store's cache of values in memory.
	DefaultCacheBytes = 32 << 20
	// maxCachedValueBytes bounds the cached values, in bytes; larger ones are read from the store each time.
	maxCachedValueBytes = 256 << 10
	// entryOverhead is about the overhead of a cached value.
	entryOverhead = 256
)

// cache keeps the most recently used values, by digest.
type cache struct{ *LRU[[]byte] }

func newCache(limit int) cache {
	return cache{NewLRU(max(1, limit/entryOverhead), limit, func(data []byte) int { return len(data) + entryOverhead })}
}

// add keeps a copy, because data may be a slice of something large, which the cache would otherwise retain.
func (c cache) add(digest string, data []byte) {
	if len(data) <= maxCachedValueBytes {
		c.Put(digest, bytes.Clone(data))
	}
}
