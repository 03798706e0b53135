// Package named reads command lines that name what to measure.
package named

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// List holds all that can be named. An element's String is its name.
type List[T fmt.Stringer] []T

// Parse reads flags and names in any order, and returns the named elements, or nil if there are no names. kind is the
// singular for the list's elements in help and errors.
func (l List[T]) Parse(f *flag.FlagSet, kind string, args []string, stderr io.Writer) (selected []T, err error) {
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stderr, "usage: %s [%s…] [flags]\n%[2]ss: %s\n", f.Name(), kind, l.names())
		f.PrintDefaults()
	}
	for {
		if err := f.Parse(args); err != nil || f.NArg() == 0 {
			return selected, err
		}
		element, known := l.Find(f.Arg(0))
		if !known {
			return nil, fmt.Errorf("there is no %s %q; there are %s", kind, f.Arg(0), l.names())
		}
		selected, args = append(selected, element), f.Args()[1:]
	}
}

func (l List[T]) names() string {
	var all []string
	for _, one := range l {
		all = append(all, one.String())
	}
	return strings.Join(all, ", ")
}

// Find returns the element with this name.
func (l List[T]) Find(name string) (element T, known bool) {
	for _, element := range l {
		if element.String() == name {
			return element, true
		}
	}
	return element, false
}
