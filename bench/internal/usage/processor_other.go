//go:build !unix

package usage

// ProcessorTime is 0, since this system does not report it.
func ProcessorTime() float64 { return 0 }
