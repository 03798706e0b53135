package desk

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	"processidea/client"
	"processidea/gateway/api"
	"processidea/model/diag"
)

// formErrors are the errors that a form shows, beside what was entered.
type formErrors struct {
	FormError          string      // the error, beside those in files
	Findings           []api.Place // mistakes in files, and warnings
	HiddenFindingCount int         // findings that are not shown
}

// setError adds an error, without the temporary folders in file names, and returns the status of the page.
func (m *formErrors) setError(err error, foldersToHide ...string) (status int) {
	var invalid *client.InvalidError
	if errors.As(err, &invalid) {
		m.addFindings(invalid.Problems, foldersToHide)
		return http.StatusUnprocessableEntity
	}
	problem := api.ProblemOf(err)
	m.FormError = clipParagraph(withoutFolders(detailOf(err), foldersToHide))
	return problem.Status
}

// fileLinePattern matches a place in a file that has lines: rows.csv:12 $.amount.
var fileLinePattern = regexp.MustCompile(`^(.+):([0-9]+)(?: (.*))?$`)

// addFindings lists errors before warnings.
func (m *formErrors) addFindings(problems diag.Problems, foldersToHide []string) {
	for _, wantsWarnings := range []bool{false, true} {
		for _, p := range problems {
			switch {
			case p.IsWarning != wantsWarnings:
			case p.UnlistedCount > 0:
				m.HiddenFindingCount += p.UnlistedCount
			default:
				m.Findings = append(m.Findings, api.Place{Path: placeText(withoutFolders(p.JSONPath, foldersToHide)),
					Message: clipParagraph(withoutFolders(p.Message, foldersToHide)), IsWarning: wantsWarnings})
			}
		}
	}
}

func withoutFolders(text string, folders []string) string {
	for _, f := range folders {
		if f != "" {
			text = strings.ReplaceAll(text, f+"/", "")
		}
	}
	return text
}

func placeText(place string) string {
	if m := fileLinePattern.FindStringSubmatch(place); m != nil {
		place = m[1] + ", line " + m[2]
		if m[3] != "" && m[3] != "$" {
			place += ", " + m[3]
		}
	}
	return clipName(place)
}
