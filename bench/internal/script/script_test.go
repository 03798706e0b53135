package script

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"strings"
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

func TestTheKilobyteIsTheOneThatThePeersGive(t *testing.T) {
	// As kilobyte of bench/peers/agent.mjs gives them.
	for n, want := range map[int][2]string{7: {"3e9e0d501ff8789cc67d571b", ""}, 200: {"", "f6787457cffb35fcdd102e71"}} {
		if k := Kilobyte(n); !strings.HasPrefix(k, want[0]) || !strings.HasSuffix(k, want[1]) {
			t.Errorf("Kilobyte(%d) is %s", n, k)
		}
	}
}

func TestNoStoreMakesMuchOfAKilobyteSmaller(t *testing.T) {
	var small bytes.Buffer
	w, err := flate.NewWriter(&small, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		k := Kilobyte(n + 1)
		if len(k) != 1024 {
			t.Fatalf("Kilobyte(%d) has %d characters", n+1, len(k))
		}
		_, _ = w.Write([]byte(k))
	}
	_ = w.Close()
	if small.Len() < 20*1024/2 {
		t.Errorf("twenty of them are %d bytes when compressed", small.Len())
	}
}
