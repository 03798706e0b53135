//go:build !unix

package usage

// ProcessorSeconds is 0, since this system does not report it.
func ProcessorSeconds() float64 { return 0 }
