package blobs

import "bytes"

const (
	// DefaultCacheBytes is the default size of a store's cache of values in memory.
	DefaultCacheBytes = 32 << 20
	// maxCachedValueBytes bounds the values that are kept, in bytes; larger ones are read again.
	maxCachedValueBytes = 256 << 10
	// cacheEntry is about the overhead of a cached value.
	cacheEntry = 256
)

// cache keeps the values that were used last, by their digests.
type cache struct{ *Recent[[]byte] }

func newCache(room int) cache {
	return cache{NewRecent(max(1, room/cacheEntry), room, func(data []byte) int { return len(data) + cacheEntry })}
}

// add keeps a copy: what it is given may be a piece of something large, which would be kept with it.
func (c cache) add(digest string, data []byte) {
	if len(data) <= maxCachedValueBytes {
		c.Keep(digest, bytes.Clone(data))
	}
}
