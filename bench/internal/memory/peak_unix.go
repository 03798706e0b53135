//go:build unix

package memory

import (
	"os"
	"runtime"
	"syscall"
)

// peakOf is the peak resident memory of a process that has ended, in MB. On Linux it is at least what the parent
// process had when it started that process.
func peakOf(p *os.ProcessState) float64 {
	used, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // in bytes; elsewhere in KB
		return float64(used.Maxrss) / (1 << 20)
	}
	return float64(used.Maxrss) / (1 << 10)
}
