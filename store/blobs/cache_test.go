package blobs

import (
	"bytes"
	"fmt"
	"testing"
)

func TestTheCacheStaysUnderItsBytesAndKeepsWhatWasUsedLast(t *testing.T) {
	t.Parallel()
	const room = 1 << 20
	c := newCache(room)
	data := make([]byte, 100<<10)
	for n := range 100 {
		c.add(fmt.Sprint(n), data)
		if c.usedBytes > room {
			t.Fatalf("it holds %d bytes of %d after %d values", c.usedBytes, room, n+1)
		}
		c.Get("0")
	}
	for digest, want := range map[string]bool{"0": true, "99": true, "50": false} {
		if _, ok := c.Get(digest); ok != want {
			t.Errorf("value %s is there: %v", digest, ok)
		}
	}
	c.add("large", make([]byte, maxCachedValueBytes+1))
	if _, ok := c.Get("large"); ok {
		t.Error("a large value was kept")
	}
	c.Remove("0")
	c.Purge()
	if c.usedBytes != 0 || c.lru.Len() != 0 {
		t.Errorf("%d bytes of %d values are left", c.usedBytes, c.lru.Len())
	}
}

func TestTheCacheKeepsNoMoreThanThePieceThatItWasGiven(t *testing.T) {
	t.Parallel()
	c := newCache(1 << 20)
	whole := bytes.Repeat([]byte("x"), 1<<10)
	c.add("piece", whole[10:20])
	whole[10] = 'y'
	if kept, _ := c.Get("piece"); string(kept) != "xxxxxxxxxx" || cap(kept) > 64 {
		t.Errorf("it keeps %q of %d bytes", kept, cap(kept))
	}
}

func TestAStoreHasTheCacheThatItIsTold(t *testing.T) {
	t.Parallel()
	for given, want := range map[int]int{0: DefaultCacheBytes, 5 << 10: 5 << 10} {
		s, err := Open(t.Context(), t.TempDir(), WithoutFsync(), WithCacheBytes(given))
		if err != nil {
			t.Fatal(err)
		}
		if s.cache.maxBytes != want {
			t.Errorf("told %d: %d bytes", given, s.cache.maxBytes)
		}
	}
}
