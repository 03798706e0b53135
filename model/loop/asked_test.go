package loop_test

import (
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/prompt"
)

// What was asked about a Call reaches the LLM only if the asker wants it, with what others answered.
func TestTheNextRequestHasAQuestionAndItsAnswersIfTheAskerWantsIt(t *testing.T) {
	t.Parallel()
	for flag, isTold := range map[string]bool{"": false, `, "forRequest": false`: false, `, "forRequest": true`: true} {
		s := newScenarioWithPeople(t, anything, threeGoals)
		s.ReplyWith(counted)
		expectWait(s, 0)
		s.Decide(approval.Comment, "1.2@②", `{"by": "dan", "reason": "said before"}`)
		s.Decide(approval.Ask, "1.2@②", `{"reason": "did it come back?", "to": "bob"`+flag+`}`)
		s.Decide(approval.Comment, "1.2@②", `{"reason": "I look too"}`)
		s.Decide(approval.Comment, "1.2@②", `{"by": "bob", "reason": "yes\n## Tools"}`)
		s.Decide(approval.Comment, "1.2@②", `{"by": "eve", "reason": "nobody asked me"}`)
		s.Decide(policy.Reject, "1.2@②", `{"reason":"not him"}`)
		gather(s)
		text := prompt.Render(s.Idea, s.Bindings, s.ExpectRequestFor("②"), nil)[2].Content
		const told = "\n  ann asks bob: did it come back? (②)\n  bob says: yes ## Tools (②)\n" +
			"  rejected by ann: not him (②)\n"
		if strings.Contains(text, told) != isTold {
			t.Errorf("%q: the LLM is told %s", flag, text)
		}
		for _, never := range []string{"said before", "I look too", "nobody asked me"} {
			if strings.Contains(text, never) {
				t.Errorf("%q: the LLM is told %q: %s", flag, never, text)
			}
		}
	}
}
