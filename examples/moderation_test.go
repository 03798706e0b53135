package examples_test

import (
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// decided gives the decision of every comment, by its id, as the real tools come to it.
func decided(t *testing.T) (loop.ProcessResult, map[string]map[string]any) {
	t.Helper()
	idea, replies := parsed(t, "moderation")
	r := start(t, idea, replies, "").through()
	decisions := map[string]map[string]any{}
	for _, i := range r.Instances {
		state := i.State.(map[string]any)
		decisions[state["id"].(string)], _ = state["decision"].(map[string]any)
	}
	return r, decisions
}

func TestAHundredCommentsTakeOneRequestAndSixCalls(t *testing.T) {
	r, decisions := decided(t)
	if r.Status != loop.StatusCompleted || r.RequestCount != 1 || r.Calls != (turn.CallCounts{Done: 600}) ||
		len(decisions) != 100 {
		t.Fatalf("%s after %d requests, calls %+v, %d decisions: %v", r.Status, r.RequestCount, r.Calls,
			len(decisions), r.Error)
	}
	output := r.Output.(map[string]any)["decisions"].(map[string]any)
	for token, i := range r.Instances {
		if want := i.State.(map[string]any)["decision"]; !jsonval.Equal(output[token], want) {
			t.Errorf("%s: the output says %v, its State %v", token, output[token], want)
		}
	}
	count := map[any]int{}
	for _, d := range decisions {
		count[d["decision"]]++
	}
	if count["allow"] != 63 || count["review"] != 11 || count["remove"] != 26 {
		t.Errorf("decisions %v", count)
	}
}

func TestTheDecisionsAreThoseOfACarefulModerator(t *testing.T) {
	_, decisions := decided(t)
	for id, want := range map[string]string{
		// Praise, thanks, questions and dry disagreement, in any language and of any length.
		"c001": "allow", "c003": "allow", "c012": "allow", "c015": "allow", "c017": "allow", "c026": "allow",
		"c035": "allow",
		"c036": "allow", "c096": "allow", "c005": "allow", "c009": "allow", "c024": "allow", "c074": "allow",
		// Sarcasm, off topic, code, a harmless tag, words that only look like insults: burro, バカンス.
		"c011": "allow", "c097": "allow", "c064": "allow", "c021": "allow", "c085": "allow", "c040": "allow",
		"c022": "allow", "c061": "allow",
		// The wave, with changed words, in capitals, with invisible characters; who talks about it is not part of it.
		"c004": "remove same", "c010": "remove same", "c020": "remove same", "c041": "remove same",
		"c057": "remove same",
		"c080": "remove same", "c093": "remove same", "c044": "allow", "c066": "allow",
		// Spam, written plainly and in disguise, and what merely resembles it.
		"c013": "remove spam", "c025": "remove spam", "c038": "remove spam", "c046": "remove spam",
		"c058": "remove spam",
		"c082": "remove spam", "c091": "remove spam", "c094": "remove spam", "c054": "review letters",
		"c098": "review letters",
		"c062": "allow", "c084": "review links", "c087": "review spam",
		// Insults: clear ones, one in a joke about oneself, one that may be banter; harsh words without any.
		"c016": "remove insult", "c048": "remove insult", "c039": "remove insult", "c065": "remove insult",
		"c070": "remove insult",
		"c088": "remove insult", "c029": "review insult", "c060": "review insult", "c078": "review insult",
		"c059": "review harsh",
		// Text that speaks to the machine decides nothing.
		"c033": "review machine", "c072": "review machine", "c068": "review machine", "c050": "remove script",
		"c055": "allow",
		// A comment without a visible character.
		"c077": "remove nothing",
	} {
		decision, why, _ := strings.Cut(want, " ")
		got := decisions[id]
		if reason, _ := got["reason"].(string); got["decision"] != decision ||
			!strings.Contains(strings.ToLower(reason), why) {
			t.Errorf("%s: got %v, want %s", id, got, want)
		}
	}
}

func TestWhatACommentSaysIsNeverReadAsAReference(t *testing.T) {
	r, _ := decided(t)
	row := rows(t, "moderation")[32]
	text, _ := jsonval.ValueAt(row, jsonval.Path{"state", "text"})
	if s, _ := text.(string); !strings.HasPrefix(s, "†state.decision") {
		t.Fatalf("comment 33 is another one: %v", text)
	}
	state, _ := r.Instances[token(32)].State.(map[string]any)
	if state["text"] != text || state["english"] != text {
		t.Errorf("State holds %v", state)
	}
}

func TestTheCommentsAreAHundredAndVaried(t *testing.T) {
	all := rows(t, "moderation")
	languages, texts, longest := map[any]int{}, map[any]bool{}, 0
	for _, row := range all {
		state := row["state"].(map[string]any)
		text := state["text"].(string)
		languages[state["lang"]]++
		texts[text], longest = true, max(longest, len([]rune(text)))
	}
	if len(all) != 100 || len(texts) != 100 || len(languages) < 15 || languages["en"] > 60 || longest < 1500 {
		t.Errorf("%d comments, %d texts, languages %v, the longest has %d characters", len(all), len(texts),
			languages, longest)
	}
}
