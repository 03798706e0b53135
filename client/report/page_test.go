package report

import (
	"testing"
	"text/template/parse"

	"processidea/internal/templatecheck"
)

func TestThePageReadsOnlyWhatAReportHas(t *testing.T) {
	t.Parallel()
	fresh := parseTemplate()
	for _, problem := range templatecheck.Problems("report.html", &Report{}, templateFuncs,
		func(name string) *parse.Tree { return fresh.Lookup(name).Tree }) {
		t.Error(problem)
	}
}
