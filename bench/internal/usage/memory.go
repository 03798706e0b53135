package usage

import (
	"os"
	"strconv"
	"strings"
)

// ForgetPeak makes the kernel measure the program's peak memory from now on. If that fails, PeakResident covers the
// whole run.
func ForgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// PeakResident is the peak of the resident memory since ForgetPeak, in MB; 0 if the system does not report it.
func PeakResident() float64 { return procStatus("VmHWM:") }

// ResidentMB is the current resident memory, in MB; 0 if the system does not report it.
func ResidentMB() float64 { return procStatus("VmRSS:") }

func procStatus(key string) float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}
