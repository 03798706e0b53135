package desk

import (
	"regexp"
	"strings"

	"processidea/model/diag"
)

// finding is a mistake in a file, or a warning.
type finding struct {
	Place, Message string
	Warning        bool
}

// atLine is the place of something in a file that has lines: rows.csv:12 $.amount.
var atLine = regexp.MustCompile(`^(.+):([0-9]+)(?: (.*))?$`)

// findingsOf lists errors before warnings, without the temporary folder in the files' names.
func findingsOf(problems diag.Problems, folders ...string) (all []finding, left int) {
	for _, warnings := range []bool{false, true} {
		for _, p := range problems {
			if p.IsWarning != warnings {
				continue
			}
			if p.More > 0 {
				left += p.More
				continue
			}
			all = append(all, finding{placeText(without(p.JSONPath, folders)), long(without(p.Message, folders)),
				p.IsWarning})
		}
	}
	return all, left
}

func without(text string, folders []string) string {
	for _, f := range folders {
		if f != "" {
			text = strings.ReplaceAll(text, f+"/", "")
		}
	}
	return text
}

func placeText(place string) string {
	if m := atLine.FindStringSubmatch(place); m != nil {
		place = m[1] + ", line " + m[2]
		if m[3] != "" && m[3] != "$" {
			place += ", " + m[3]
		}
	}
	return short(place)
}
