//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime is the time, in seconds, that the program's threads have had on a processor; 0 where the system does not
// tell.
func processorTime() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return (time.Duration(used.Utime.Nano()) + time.Duration(used.Stime.Nano())).Seconds()
}
