package ideafiles_test

import (
	"testing"

	"processidea/client/ideafiles"
	"processidea/model/jsonval"
)

// A fork that names an LLM asks that one alone: also where the Idea had a list of them.
func TestAForkThatNamesAnLLMAsksNoOther(t *testing.T) {
	for given, want := range map[string]string{
		`{"config":{"llm":[{"model":"a","timeout":"9s"},{"model":"b"}]}}`: `{"config":{"llm":{"model":"new","timeout":"9s"}}}`,
		`{"config":{"llm":{"model":"a","temperature":0}}}`:                `{"config":{"llm":{"model":"new","temperature":0}}}`,
		`{}`: `{"config":{"llm":{"model":"new"}}}`,
	} {
		idea, err := jsonval.DecodeObject([]byte(given))
		if err != nil {
			t.Fatal(err)
		}
		changed, err := ideafiles.Changes{LLM: "new"}.Apply(idea)
		if got := string(jsonval.Encode(changed)); err != nil || got != want {
			t.Errorf("%s became %s, %v; want %s", given, got, err, want)
		}
	}
}
