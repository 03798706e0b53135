//go:build !unix

package usage

// ProcessorTime is 0: this system does not tell.
func ProcessorTime() float64 { return 0 }
