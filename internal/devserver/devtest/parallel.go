package devtest

import (
	"flag"
	"strconv"
)

// Parallel has so many tests of a package run at once, to be called from TestMain, where the go command's -parallel
// says nothing else. Its default is the number of CPUs, and that leaves them idle where tests mostly wait for a
// server.
func Parallel(tests int) {
	const name = "test.parallel"
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		_ = flag.Set(name, strconv.Itoa(tests)) // a number that the testing package takes
	}
}
