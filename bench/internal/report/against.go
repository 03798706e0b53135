package report

import (
	"fmt"
	"slices"
	"strings"
)

// Floor is the figure of each work that says what plain workflows took in the same run. Times are compared between
// machines, and between hours of one machine, as multiples of it.
const Floor = "floor: 50 plain workflows"

// maxSlower is how much of an earlier time, each as a multiple of its floor, a new one may take.
const maxSlower = 1.1

// Slower lists the times that are over the earlier ones by more than a tenth, even where they were quickest.
func Slower(figures, earlier []Figure) (list []string) {
	for _, f := range figures {
		n := slices.IndexFunc(earlier, func(e Figure) bool { return e.Work == f.Work && e.Name == f.Name })
		floor, then := floorOf(figures, f.Work), floorOf(earlier, f.Work)
		if n < 0 || f.Name == Floor || f.Unit != "s" && f.Unit != "ms" || f.isPart() || floor*then == 0 {
			continue
		}
		now, was := f.Ours.P10/floor, earlier[n].Ours.Median/then
		if was > 0 && now > maxSlower*was {
			list = append(list, fmt.Sprintf("%s: %s is %.3g of the floor, and was %.3g", f.Work, f.Name, now, was))
		}
	}
	return list
}

// floorOf gives the floor of a work, which stands under its name without a size.
func floorOf(figures []Figure, work string) (median float64) {
	name := ""
	for _, f := range figures {
		if f.Name == Floor && len(f.Work) > len(name) && (work == f.Work || strings.HasPrefix(work, f.Work+"-")) {
			name, median = f.Work, f.Ours.Median
		}
	}
	return median
}
