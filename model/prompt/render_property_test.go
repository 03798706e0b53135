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
	rapid.Check(t, func(rt *rapid.T) {
		modeltest.DrawnProcess(rt, func(s *modeltest.Stage, c *loop.Conclusion) {
			first, second := Render(s.Idea, s.Bindings, c.Brief, nil), Render(s.Idea, s.Bindings, c.Brief, nil)
			if fmt.Sprint(first) != fmt.Sprint(second) || len(first) != 3 || first[2].Content == "" {
				rt.Fatalf("%v\n%v", first, second)
			}
			mustBeValidFormat(rt, ResponseFormatFor(s.Idea, s.Bindings, c.Brief))
		})
	})
}
