//go:build unix

package usage

import (
	"syscall"
	"time"
)

// ProcessorSeconds is the processor time of all the program's threads, in seconds; 0 if the system does not report it.
func ProcessorSeconds() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return (time.Duration(used.Utime.Nano()) + time.Duration(used.Stime.Nano())).Seconds()
}
