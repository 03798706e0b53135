// Package heap keeps the memory of Go below a soft limit.
//
// Go's own limit (GOMEMLIMIT) suits a program that would rather stall than take more memory. When the memory in use
// comes near the limit, Go does little but collect garbage, and workflow tasks, heartbeats and servers time out. The
// limit of this package rises instead, so that there is always room for garbage of two fifths of the memory in use.
//
// Invariant: the package never changes a limit set by GOMEMLIMIT.
package heap

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"

	"processidea/internal/safego"
)

// LimitVariable names the limit in the environment, in bytes.
const LimitVariable = "PROCESSIDEA_MEMORY_LIMIT_BYTES"

// minGarbageRoom is the minimum room for garbage, in bytes.
const minGarbageRoom = 64 << 20

var memoryLimit struct {
	sync.Mutex
	limit, now int64 // guarded by Mutex, as watched is
	watched    bool
}

// SetSoftLimit keeps the memory of Go below limit bytes from now on; 0: no limit. If GOMEMLIMIT is set it does nothing.
func SetSoftLimit(limit int64) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	memoryLimit.Lock()
	memoryLimit.limit = limit
	wasWatched := memoryLimit.watched
	memoryLimit.watched = true
	memoryLimit.Unlock()
	adjustLimit()
	if !wasWatched {
		runtime.SetFinalizer(&gcSentinel{}, (*gcSentinel).onCollected)
	}
}

// gcSentinel becomes garbage immediately, so that every garbage collection finds it.
type gcSentinel struct{ _ [2]*byte }

// onCollected is called after each garbage collection, and arranges to be called again.
func (c *gcSentinel) onCollected() {
	_ = safego.Run("heap.adjust", func() error { adjustLimit(); return nil })
	runtime.SetFinalizer(c, (*gcSentinel).onCollected)
}

// adjustLimit sets Go's limit from the memory in use at the last garbage collection.
func adjustLimit() {
	liveSamples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(liveSamples)
	memoryLimit.Lock()
	defer memoryLimit.Unlock()
	limit := softLimitFor(memoryLimit.limit, int64(liveSamples[0].Value.Uint64())) //nolint:gosec // no machine has so much
	if change := limit - memoryLimit.now; change > memoryLimit.now/32 || change < -memoryLimit.now/32 {
		debug.SetMemoryLimit(limit)
		memoryLimit.now = limit
	}
}

const unlimitedBytes = 1<<63 - 1

func softLimitFor(limit, liveBytes int64) int64 {
	if limit <= 0 {
		return unlimitedBytes
	}
	return max(limit, liveBytes+max(minGarbageRoom, liveBytes*2/5))
}

// MaxBytes is the highest limit that BytesFromEnv accepts, more memory than any machine has.
const MaxBytes = 1 << 50

// BytesFromEnv reads a number of bytes from the environment; 0: not set.
func BytesFromEnv(getenv func(string) string, variable string) (int64, error) {
	text := strings.TrimSpace(getenv(variable))
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > MaxBytes {
		return 0, fmt.Errorf("heap: read %s: want a whole number of bytes from 1 to %d, not %q", variable, MaxBytes,
			text)
	}
	return n, nil
}

// ContainerLimit is the memory limit of the container in which the program runs, in bytes; 0: no container, or no
// limit.
func ContainerLimit() int64 {
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if data, err := os.ReadFile(path); err == nil {
			return parseContainerLimit(string(data))
		}
	}
	return 0
}

func parseContainerLimit(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n >= 1<<60 { // "max", or the kernel's number for no limit
		return 0
	}
	return n
}

// DefaultLimit is the default limit of a program: usual, or four fifths of its container's limit if that is less. If
// usual is 0, only the container limits; without a limit there either, the result is 0, no limit.
func DefaultLimit(preferredLimit int64) int64 {
	available := ContainerLimit() / 5 * 4
	if preferredLimit == 0 || (available > 0 && available < preferredLimit) {
		return available
	}
	return preferredLimit
}
