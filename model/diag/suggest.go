package diag

import (
	"fmt"
	"strings"

	"processidea/model/jsonval"
)

// DidYouMean gives "; did you mean …?" if one of the names is nearly the one that was written, and "" otherwise.
func DidYouMean(name string, names []string) string {
	if best := NearestName(name, names); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}

// DidYouMeanOrListNames is DidYouMean, or a list of the first names if none is near.
func DidYouMeanOrListNames(name string, names []string) string {
	return DidYouMeanOrListWithIntro(name, names, "there are")
}

// DidYouMeanOrListWithIntro is DidYouMeanOrListNames with a text before the names, such as "it has".
func DidYouMeanOrListWithIntro(name string, names []string, introduction string) string {
	if s := DidYouMean(name, names); s != "" || len(names) == 0 {
		return s
	}
	return "; " + introduction + " " + SummarizeNames(names)
}

// NearestName returns the name that is nearest to an unknown one and differs from it in at most a third of its letters;
// "" if there is none.
func NearestName(name string, names []string) string {
	best, minDistance := "", len([]rune(name))/3+1
	for _, n := range names {
		if n == name {
			continue
		}
		if d := editDistance(strings.ToLower(name), strings.ToLower(n)); d < minDistance {
			best, minDistance = n, d
		}
	}
	return best
}

// editDistance is the Levenshtein distance of the first 60 letters of two words.
func editDistance(a, b string) int {
	x, y := []rune(jsonval.Clip(a, 60)), []rune(jsonval.Clip(b, 60))
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(y)]
}

// SummarizeNames lists the first names and counts the rest.
func SummarizeNames(names []string) string {
	const maxShown = 8
	if len(names) <= maxShown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxShown], ", "), len(names)-maxShown)
}
