package blobs

import "bytes"

const (
	// DefaultCacheBytes is the default size of a store's cache of values in memory.
	DefaultCacheBytes = 32 << 20
	// maxCachedValueBytes bounds the cached values, in bytes; larger ones are read from the store each time.
	maxCachedValueBytes = 256 << 10
	// cacheEntry is about the overhead of a cached value.
	cacheEntry = 256
)

// cache keeps the most recently used values, by digest.
type cache struct{ *Recent[[]byte] }

func newCache(room int) cache {
	return cache{NewRecent(max(1, room/cacheEntry), room, func(data []byte) int { return len(data) + cacheEntry })}
}

// add keeps a copy, because data may be a slice of something large, which the cache would otherwise retain.
func (c cache) add(digest string, data []byte) {
	if len(data) <= maxCachedValueBytes {
		c.Keep(digest, bytes.Clone(data))
	}
}
