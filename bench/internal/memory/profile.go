package memory

import (
	"bytes"
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

// writeLargestHeapProfile writes a heap profile whenever the heap has grown by a twentieth since the last one.
func writeLargestHeapProfile(path string) {
	var largest uint64
	for range time.Tick(50 * time.Millisecond) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapAlloc < largest+largest/20 {
			continue
		}
		largest = m.HeapAlloc
		var profile bytes.Buffer
		if pprof.WriteHeapProfile(&profile) == nil {
			_ = os.WriteFile(path, profile.Bytes(), 0o600)
		}
	}
}
