package devtest

import (
	"flag"
	"strconv"
)

// SetParallel sets how many tests of a package run at the same time, unless the go command's -parallel does. Call it
// from TestMain. The default is the number of CPUs, which leaves them idle if tests mostly wait for a server.
func SetParallel(testCount int) {
	const name = "test.parallel"
	flag.Parse()
	isSet := false
	flag.Visit(func(f *flag.Flag) { isSet = isSet || f.Name == name })
	if !isSet {
		_ = flag.Set(name, strconv.Itoa(testCount)) // the testing package accepts any number
	}
}
