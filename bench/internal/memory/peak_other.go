//go:build !unix

package memory

import "os"

// peakOf is 0, since this system does not report it.
func peakOf(*os.ProcessState) float64 { return 0 }
