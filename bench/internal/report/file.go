package report

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
)

// savedReport is the JSON that Save writes and Read reads.
type savedReport struct {
	GoVersion string   `json:"go"`
	CPUCount  int      `json:"cpus"`
	IsQuick   bool     `json:"quick"`
	Figures   []Figure `json:"figures"`
	Growths   []Growth `json:"growths"`
}

// Save writes the figures to a JSON file.
func Save(fileName string, isQuick bool, figures []Figure) error {
	f := savedReport{GoVersion: runtime.Version(), CPUCount: runtime.NumCPU(), IsQuick: isQuick, Figures: figures,
		Growths: ComputeGrowths(figures)}
	data, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = os.WriteFile(fileName, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	return nil
}

// Read joins the figures of several files that Save wrote. If several files have a work, the last one counts.
func Read(fileNames []string) (figures []Figure, err error) {
	for _, fileName := range fileNames {
		var f savedReport
		data, err := os.ReadFile(fileName)
		if err == nil {
			err = json.Unmarshal(data, &f)
		}
		if err != nil {
			return nil, fmt.Errorf("read figures of %s: %w", fileName, err)
		}
		figures = append(dropRemeasured(figures, f.Figures), f.Figures...)
	}
	return figures, nil
}

// dropRemeasured drops the figures of works that were measured again.
func dropRemeasured(figures, newer []Figure) []Figure {
	return slices.DeleteFunc(figures, func(f Figure) bool {
		return slices.ContainsFunc(newer, func(g Figure) bool { return f.Workload == g.Workload })
	})
}
