// Package named reads command lines that name what is to be measured.
package named

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// List is all that can be named. The text of each is its name.
type List[T fmt.Stringer] []T

// Parse reads the flags, which stand before, between and after names, and gives what is named: none where there are no
// names. Kind is what the list holds, as its help and errors say it.
func (l List[T]) Parse(f *flag.FlagSet, kind string, args []string, stderr io.Writer) (some []T, err error) {
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stderr, "usage: %s [%s…] [flags]\n%[2]ss: %s\n", f.Name(), kind, l.names())
		f.PrintDefaults()
	}
	for {
		if err := f.Parse(args); err != nil || f.NArg() == 0 {
			return some, err
		}
		one, known := l.Find(f.Arg(0))
		if !known {
			return nil, fmt.Errorf("there is no %s %q; there are %s", kind, f.Arg(0), l.names())
		}
		some, args = append(some, one), f.Args()[1:]
	}
}

func (l List[T]) names() string {
	var all []string
	for _, one := range l {
		all = append(all, one.String())
	}
	return strings.Join(all, ", ")
}

// Find gives what has a name.
func (l List[T]) Find(name string) (one T, known bool) {
	for _, one := range l {
		if one.String() == name {
			return one, true
		}
	}
	return one, false
}
