package memory

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
)

// options holds the flags of `bench memory`.
type options struct {
	cases   []Case
	quick   bool
	profile string
}

func readOptions(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("bench memory", flag.ContinueOnError)
	f.BoolVar(&o.quick, "quick", false, "small sizes: whether it works, not how much memory it takes")
	f.StringVar(&o.profile, "heapprofile", "",
		"file for a profile of the heap when it was largest, for go tool pprof; of the last case")
	o.cases, err = Cases.Parse(f, "case", args, stderr)
	if len(o.cases) == 0 {
		o.cases = Cases
	}
	return o, err
}

// Main measures the cases that the arguments name, or all if they name none, and prints a table. A case that exceeds
// its limit is an error.
func Main(ctx context.Context, args []string, out, stderr io.Writer) error {
	o, err := readOptions(args, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| case | peak memory, MB | limit | met |\n| --- | --- | --- | --- |")
	var errs []error
	for _, c := range o.cases {
		mb, err := c.measure(ctx, o)
		if err == nil {
			err = c.print(out, mb)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("measure %s: %w", c.Name, err))
		}
	}
	return errors.Join(errs...)
}

// print prints a line of the table. It returns an error if the limit is exceeded.
func (c Case) print(out io.Writer, mb float64) error {
	met := "yes"
	if mb > c.LimitMB {
		met = "no"
	}
	fmt.Fprintf(out, "| %s | %.0f | %.0f | %s |\n", c.Name, mb, c.LimitMB, met)
	if mb > c.LimitMB {
		return fmt.Errorf("it took %.0f MB; the limit is %.0f", mb, c.LimitMB)
	}
	return nil
}
