package diag

import (
	"strings"

	"processidea/model/jsonval"
)

// suggest gives "; did you mean …?" where one of the names is nearly the one that was written, "" otherwise.
func DidYouMean(name string, names []string) string {
	if best := Nearest(name, names); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}

// Suggest is a proposal for a name that is not known: the nearest of those that are, or else the first of them.
func Suggest(name string, names []string) string {
	if s := DidYouMean(name, names); s != "" || len(names) == 0 {
		return s
	}
	return "; there are " + SomeOf(names)
}

// nearest is the name that differs from a written one by no more than a third of its letters; "" where there is none.
func Nearest(name string, names []string) string {
	best, least := "", len([]rune(name))/3+1
	for _, n := range names {
		if n == name {
			continue
		}
		if d := distance(strings.ToLower(name), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is the number of letters to change, add or drop between two words, as far as it matters.
func distance(a, b string) int {
	x, y := []rune(jsonval.Clip(a, 60)), []rune(jsonval.Clip(b, 60))
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		corner := row[0]
		row[0] = i + 1
		for j := range y {
			change := corner
			if x[i] != y[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, corner+1)
		}
	}
	return row[len(y)]
}
