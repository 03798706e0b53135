package report

import (
	"testing"
	"text/template/parse"

	"processidea/internal/templatecheck"
)

func TestThePageReadsOnlyWhatAReportHas(t *testing.T) {
	t.Parallel()
	fresh := newPage()
	for _, problem := range templatecheck.Problems("report.html", &Report{}, functions,
		func(name string) *parse.Tree { return fresh.Lookup(name).Tree }) {
		t.Error(problem)
	}
}
