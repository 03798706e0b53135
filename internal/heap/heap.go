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

// LimitEnvVariable names the limit in the environment, in bytes.
const LimitEnvVariable = "PROCESSIDEA_MEMORY_LIMIT_BYTES"

// minGarbageBytes is the minimum room for garbage, in bytes.
const minGarbageBytes = 64 << 20

var memoryLimit struct {
	sync.Mutex
	limit, appliedLimit int64 // guarded by Mutex, as isWatched is
	isWatched           bool
}

// SetSoftLimit keeps the memory of Go below limit bytes from now on; 0: no limit. If GOMEMLIMIT is set it does nothing.
func SetSoftLimit(limit int64) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	memoryLimit.Lock()
	memoryLimit.limit = limit
	wasWatched := memoryLimit.isWatched
	memoryLimit.isWatched = true
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
	//nolint:gosec // no machine has so much
	limit := softLimitFor(memoryLimit.limit, int64(liveSamples[0].Value.Uint64()))
	change, minChange := limit-memoryLimit.appliedLimit, memoryLimit.appliedLimit/32
	if change > minChange || change < -minChange {
		debug.SetMemoryLimit(limit)
		memoryLimit.appliedLimit = limit
	}
}

const unlimitedBytes = 1<<63 - 1

func softLimitFor(limit, liveBytes int64) int64 {
	if limit <= 0 {
		return unlimitedBytes
	}
	return max(limit, liveBytes+max(minGarbageBytes, liveBytes*2/5))
}

// MaxLimitBytes is the highest limit that BytesFromEnv accepts, more memory than any machine has.
const MaxLimitBytes = 1 << 50

// BytesFromEnv reads a number of bytes from the environment; 0: not set.
func BytesFromEnv(getenv func(string) string, variable string) (int64, error) {
	text := strings.TrimSpace(getenv(variable))
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > MaxLimitBytes {
		return 0, fmt.Errorf("heap: read %s: want a whole number of bytes from 1 to %d, not %q", variable,
			MaxLimitBytes,
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
	containerShare := ContainerLimit() / 5 * 4
	if preferredLimit == 0 || (containerShare > 0 && containerShare < preferredLimit) {
		return containerShare
	}
	return preferredLimit
}
