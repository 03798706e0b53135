package prompt

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/loop"
	"processidea/model/modeltest"
)

// A Request is rendered and its form composed whatever has happened, and both say the same for the same Brief.
func TestAnyRequestHasAPromptAndAForm(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		modeltest.RunDrawnProcess(rt, func(s *modeltest.Scenario, c *loop.Conclusion) {
			first, second := Prompt(s.Idea, s.Bindings, c.Input, nil), Prompt(s.Idea, s.Bindings, c.Input, nil)
			if fmt.Sprint(first) != fmt.Sprint(second) || len(first) != 3 || first[2].Content == "" {
				rt.Fatalf("%v\n%v", first, second)
			}
			checkForm(rt, ComposeFor(s.Idea, s.Bindings, c.Input))
		})
	})
}
