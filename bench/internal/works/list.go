package works

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// List holds works that a command line may name.
type List []Workload

// SelectByArgs reads flags and names in any order, and returns the named works, or nil if there are no names.
func (l List) SelectByArgs(f *flag.FlagSet, args []string, stderr io.Writer) (selected []Workload, err error) {
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stderr, "usage: %s [work…] [flags]\nworks: %s\n", f.Name(), l.joinedNames())
		f.PrintDefaults()
	}
	for {
		if err := f.Parse(args); err != nil || f.NArg() == 0 {
			return selected, err
		}
		work, isKnown := l.Find(f.Arg(0))
		if !isKnown {
			return nil, fmt.Errorf("there is no work %q; there are %s", f.Arg(0), l.joinedNames())
		}
		selected, args = append(selected, work), f.Args()[1:]
	}
}

func (l List) joinedNames() string {
	var names []string
	for _, work := range l {
		names = append(names, work.Name)
	}
	return strings.Join(names, ", ")
}

// Find returns the work with this name.
func (l List) Find(name string) (work Workload, isKnown bool) {
	for _, work := range l {
		if work.Name == name {
			return work, true
		}
	}
	return work, false
}
