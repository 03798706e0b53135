package prompt

import (
	"testing"
	"text/template/parse"

	"processidea/internal/templatecheck"
)

func TestATextReadsOnlyWhatThePromptHas(t *testing.T) {
	t.Parallel()
	for _, one := range textTemplates.Templates() {
		for _, problem := range templatecheck.Problems(one.Name(), &promptWriter{}, nil,
			func(name string) *parse.Tree { return textTemplates.Lookup(name).Tree }) {
			t.Errorf("%s: %s", one.Name(), problem)
		}
	}
}
