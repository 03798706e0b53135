package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// printTable writes the figures as Markdown.
func printTable(w io.Writer, figures []figure) {
	fmt.Fprintln(w, "| work | figure | unit | median | p10 | p90 | plain Go | ratio | limit | met |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, f := range figures {
		if f.isPart() && f.Ours.Median < 0.1 {
			continue
		}
		plain, ratio := "", ""
		if f.Plain != nil {
			plain, ratio = number(f.Plain.Median), number(f.Ratio)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", f.Work, f.Name, f.Unit, number(f.Ours.Median),
			number(f.Ours.P10), number(f.Ours.P90), plain, ratio, f.limitText(), f.metText())
	}
}

// isPart says whether it is a share of another figure.
func (f figure) isPart() bool { return strings.Count(f.Name, ": ") > 1 }

func (f figure) limitText() string {
	switch {
	case f.Factor > 0:
		return number(f.Factor) + " × plain"
	case f.Limit > 0:
		return number(f.Limit)
	}
	return ""
}

func (f figure) metText() string {
	switch {
	case f.Met == nil:
		return ""
	case *f.Met:
		return "yes"
	}
	return "no"
}

// number is short where it is large, and exact enough where it is small.
func number(v float64) string {
	switch {
	case v >= 1000 || v == float64(int64(v)):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.1:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// report is the JSON form of a run.
type report struct {
	Go      string   `json:"go"`
	CPUs    int      `json:"cpus"`
	Quick   bool     `json:"quick"`
	Figures []figure `json:"figures"`
	Growths []growth `json:"growths"`
}

// save writes what the command line asks for.
func save(o options, figures []figure) error {
	if o.svg != "" {
		if err := savePlot(o.svg, figures); err != nil {
			return err
		}
	}
	if o.json == "" {
		return nil
	}
	data, err := json.MarshalIndent(report{Go: runtime.Version(), CPUs: runtime.NumCPU(), Quick: o.quick, Figures: figures, Growths: growths(figures)}, "", "  ")
	if err == nil {
		err = os.WriteFile(o.json, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	return nil
}

// readFigures puts together what several runs have saved.
func readFigures(_ context.Context, o options) (figures []figure, err error) {
	for _, name := range o.from {
		var r report
		data, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil {
			return nil, fmt.Errorf("read figures of %s: %w", name, err)
		}
		figures = append(without(figures, r.Figures), r.Figures...)
	}
	return figures, nil
}

// without leaves out the works that were measured again.
func without(figures, again []figure) []figure {
	return slices.DeleteFunc(figures, func(f figure) bool {
		return slices.ContainsFunc(again, func(g figure) bool { return f.Work == g.Work })
	})
}
