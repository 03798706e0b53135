package report

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
)

// file is the JSON that Save writes and Read reads.
type file struct {
	Go      string   `json:"go"`
	CPUs    int      `json:"cpus"`
	Quick   bool     `json:"quick"`
	Figures []Figure `json:"figures"`
	Growths []Growth `json:"growths"`
}

// Save writes the figures to a JSON file.
func Save(name string, quick bool, figures []Figure) error {
	f := file{Go: runtime.Version(), CPUs: runtime.NumCPU(), Quick: quick, Figures: figures, Growths: Growths(figures)}
	data, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = os.WriteFile(name, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	return nil
}

// Read joins the figures of several files that Save wrote. If several files have a work, the last one counts.
func Read(names []string) (figures []Figure, err error) {
	for _, name := range names {
		var f file
		data, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(data, &f)
		}
		if err != nil {
			return nil, fmt.Errorf("read figures of %s: %w", name, err)
		}
		figures = append(withoutRemeasured(figures, f.Figures), f.Figures...)
	}
	return figures, nil
}

// withoutRemeasured drops the figures of works that were measured again.
func withoutRemeasured(figures, again []Figure) []Figure {
	return slices.DeleteFunc(figures, func(f Figure) bool {
		return slices.ContainsFunc(again, func(g Figure) bool { return f.Work == g.Work })
	})
}
