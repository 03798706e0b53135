package script

import (
	"encoding/json"
	"testing"

	"processidea/rehearsal"
)

// replies reads lines as the scripted LLM does.
func replies(t *testing.T, lines []string) (all []rehearsal.Reply) {
	t.Helper()
	for _, line := range lines {
		r, err := rehearsal.Parse([]byte(line))
		if err != nil || len(r) != 1 {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, r[0])
	}
	return all
}

func tokensOf(r rehearsal.Reply) int { return (len([]rune(r.Content)) + tokenChars - 1) / tokenChars }

func TestTheDiamondTakesAsManyTokensInOneRequestAsInMany(t *testing.T) {
	near := func(what string, got, want int) {
		if got < want-3 || got > want+3 {
			t.Errorf("%s takes %d tokens, not %d", what, got, want)
		}
	}
	plan := replies(t, DiamondLines(false, Pace))
	near("the Plan", tokensOf(plan[0]), planTokens)
	near("the output", tokensOf(plan[1]), outputTokens)
	near("the Plan with a wired output", tokensOf(replies(t, DiamondLines(true, Pace))[0]), planTokens)
	steps := replies(t, DiamondStepLines(Pace))
	if len(steps) != len(Diamond)+1 {
		t.Fatalf("there are %d replies", len(steps))
	}
	sum := 0
	for i := range Diamond {
		sum += tokensOf(steps[i])
	}
	near("one Call a Request", sum, planTokens)
	near("its output", tokensOf(steps[len(Diamond)]), outputTokens)
}

func TestEveryLineGivesItsCalls(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		calls []int
	}{
		"diamond": {DiamondLines(false, ""), []int{8, 0}}, "diamond in one": {DiamondLines(true, ""), []int{8}},
		"diamond in steps": {DiamondStepLines(""), []int{1, 1, 1, 1, 1, 1, 1, 1, 0}}, "chain": {ChainLines("grow", 2), []int{1, 1, 0}},
		"fanout": {FanoutLines("instant", 3), []int{3, 0}}, "each": {EachLines("instant", 2, Pace), []int{1, 1}},
	} {
		for i, r := range replies(t, c.lines) {
			var said struct{ Calls []map[string]any }
			if err := json.Unmarshal([]byte(r.Content), &said); err != nil || i >= len(c.calls) || len(said.Calls) != c.calls[i] {
				t.Errorf("%s: reply %d has %d Calls, want %v: %v", name, i+1, len(said.Calls), c.calls, err)
			}
		}
	}
}
