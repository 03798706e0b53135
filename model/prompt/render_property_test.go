package prompt

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/loop"
	"processidea/model/modeltest"
)

// Every Request can be rendered and its response format composed, whatever has happened, and the same RequestInput
// yields the same prompt.
func TestAnyRequestHasAPromptAndAForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		modeltest.RunRandomProcess(rt, func(s *modeltest.Scenario, c *loop.RequestConclusion) {
			first, second := Render(s.Idea, s.Bindings, c.RequestInput, nil), Render(s.Idea, s.Bindings, c.RequestInput, nil)
			if fmt.Sprint(first) != fmt.Sprint(second) || len(first) != 3 || first[2].Content == "" {
				rt.Fatalf("%v\n%v", first, second)
			}
			mustBeValidFormat(rt, ResponseFormatFor(s.Idea, s.Bindings, c.RequestInput))
		})
	})
}
