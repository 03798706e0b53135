package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
	"processidea/starter/internal/exit"
	"processidea/store/blobs"
	"processidea/store/chain"
	"processidea/store/encryption"
)

// audited is a store with the chain "p 1": three Ideas of two instances, with a Call that wrote and a person who
// decided. The verbs of this test read it.
func audited(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("PROCESSIDEA_STORE", dir)
	t.Setenv("PROCESSIDEA_DATA", filepath.Join(dir, "none"))
	t.Setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
	values, err := blobs.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer values.Close()
	chains, parent := chain.New(values), ""
	made := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, text := range []string{
		`{"meta": {"request": 1}, "context": [{"type": "state", "_instance": "①", "text": "hi"}, {"type": "state", "_instance": "②", "n": 1}],
			"solution": {"calls": [{"_tool": "judge", "_instance": "①", "text": "†state.text", "_outputPath": "mood"}], "output": null}}`,
		`{"meta": {"request": 2}, "context": [{"type": "state", "_instance": "①", "text": "hi", "mood": "good"}, {"type": "state", "_instance": "②", "n": 12345678901234567890}],
			"solution": {"calls": [], "output": null}}`,
		`{"context": [{"type": "state", "_instance": "①", "text": "hi", "mood": "good", "name": "A\u001bda",
			"note": "` + strings.Repeat("word ", 60) + `end"}, {"type": "state", "_instance": "②", "n": 12345678901234567890}]}`,
	} {
		idea, err := jsonval.DecodeObject([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		log := [][]turn.LogEntry{nil,
			{{InstanceToken: "①", Write: statelog.Write{Path: jsonval.Path{"mood"}, Value: "good", Author: "1.1@①",
				Request: 1, Index: 1, WrittenAt: made}}}, {
				{InstanceToken: "①", Write: statelog.Write{Path: jsonval.Path{"name"}, Value: "Ada",
					Author:  "person:Grace",
					Request: 2, Index: 1},
					Decision: &approval.Decision{Kind: "answer", DecidedBy: "Grace", Reason: "she said so"}},
				{InstanceToken: "①", Decision: &approval.Decision{Kind: "answer", CallID: "2.1@①", DecidedBy: "Grace",
					Reason: "she said so", AnswerResult: strings.Repeat("word ", 60) + "end", DecidedAt: made}},
			}}[i]
		sealed, err := chains.Seal(t.Context(), chain.IdeaToSeal{ProcessID: "p 1", IdeaNumber: i + 1,
			ParentDigest: parent, Idea: idea,
			Log: log, Created: made})
		if err != nil {
			t.Fatal(err)
		}
		parent = sealed.Digest
	}
	return dir
}

// Whether what a missing key opens is whole, nobody knows: it is neither that nor broken.
func TestAChainWhoseKeyIsMissingIsNotCheckedAndTheOthersAre(t *testing.T) {
	dir, k1, k2 := t.TempDir(), freshKey(t, "k1"), freshKey(t, "k2")
	for id, keys := range map[string]string{"old": k1, "new": k2 + "," + k1, "newer": k2 + "," + k1} {
		parsed, err := encryption.Parse(keys)
		if err != nil {
			t.Fatal(err)
		}
		values, err := blobs.Open(t.Context(), dir, blobs.WithKeys(parsed))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := chain.New(values).Seal(t.Context(), chain.IdeaToSeal{ProcessID: id, IdeaNumber: 1,
			Idea: map[string]any{"context": []any{}}}); err != nil {
			t.Fatal(err)
		}
		_ = values.Close()
	}
	t.Setenv("PROCESSIDEA_STORE", dir)
	t.Setenv("PROCESSIDEA_KEYS", k2)
	const reason = "a key is missing: it is encrypted with key k1, which is not in PROCESSIDEA_KEYS"
	says(t, "verify|old", exit.Usage, "!verify old: not checked, because "+reason)
	says(t, "verify|new", exit.Done, "new: whole, 1 Idea")
	says(t, "verify|--all", exit.Usage, "new: whole, 1 Idea", "newer: whole, 1 Idea",
		"old: not checked, because "+reason,
		"2 chains checked, 0 broken; not checked: 1 chain, values that belong to no chain")
	says(t, "verify|--all|--json", exit.Usage, `"broken":[]`, `"unchecked":"`+reason+`"`)
	place := filepath.Join(dir, "ideas", "newer", "1.json")
	data, err := os.ReadFile(place)
	if err == nil {
		data[len(data)/2] ^= 1
		err = os.WriteFile(place, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	says(t, "verify|--all", exit.Failed, "new: whole, 1 Idea", "newer: broken, 1 Idea\n  Idea 1: ideas/newer/1.json: ",
		"old: not checked, because ", "2 chains checked, 1 broken; not checked: 1 chain, ")
}

// says checks what a command line writes and its exit code. What is wanted on standard error begins with "!".
func says(t *testing.T, line string, code int, wants ...string) (out string) {
	t.Helper()
	out, err, got := called(t, strings.Split(line, "|")...)
	if got != code {
		t.Errorf("%s: exit code %d, want %d: %s%s", line, got, code, out, err)
	}
	for _, want := range wants {
		text, where := want, out
		if rest, ok := strings.CutPrefix(want, "!"); ok {
			text, where = rest, err
		}
		if !strings.Contains(where, text) {
			t.Errorf("%s does not say %q, but %q and %q", line, want, out, err)
		}
	}
	if strings.ContainsRune(out, '\x1b') && !strings.Contains(line, "--json") {
		t.Errorf("%s steers the terminal: %q", line, out)
	}
	return out
}

func TestWhatNeedsTheStoreAloneGoesOnWhereTemporalsConfigurationCannotBeRead(t *testing.T) {
	audited(t)
	file := filepath.Join(t.TempDir(), "temporal.toml")
	if err := os.WriteFile(file, []byte("[profile"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEMPORAL_CONFIG_FILE", file)
	says(t, "history|p 1", exit.Done, "idea  created")
	says(t, "verify|p 1", exit.Done, "p 1: whole")
	says(t, "list", exit.Usage, "!read how to reach Temporal")
}

func TestAChainIsAuditedWithTheStoreAlone(t *testing.T) {
	dir := audited(t)
	says(t, "history|p 1", exit.Done, "idea  created", "\n2     ", "\n3     ")
	says(t, "history|p 1|--json", exit.Done, `[{"at":1,"digest":"`,
		`"createdAt":"2020-01-02T03:04:05Z","request":1,"counts":{"instances":2,"calls":1,"writes":0,"decisions":0}}`)
	says(t, "show|p 1|--at|1", exit.Done, `"request": 1`)
	says(t, "diff|p 1|1|2", exit.Done, "p 1: Idea 1 → Idea 2\n", "①\n  + †state.mood  \"good\"\n  - call 1.1 judge  {",
		"②\n  ~ †state.n  1 → 12345678901234567890\n")
	says(t, "diff|p 1|2|2", exit.Done, "no value and no Call differs")
	says(t, "diff|p 1|1|2|--json", exit.Done,
		`"changes":[{"instance":"①","what":"added","path":"†state.mood","from":null,"to":"good"}`)
	says(t, "diff|p 1|1|2|--patch", exit.Done, `{"op":"add","path":"/context/0/mood","value":"good"}`)
	says(t, "blame|p 1|①:mood", exit.Done, `①:mood of p 1, Idea 3: "good"`, "written by 1.1@①, ", "(log of Idea 2)",
		"call 1.1@① of Request 1: judge",
		`†state.text is "hi" (in Idea 2)`, "starter show 'p 1' --at 1")
	says(t, "blame|p 1|①:name", exit.Done, "written by person:Grace: name",
		"decided by Grace: answer, because she said so")
	if out := says(t, "blame|p 1|①:note", exit.Done, "…"); strings.Contains(out, "end") {
		t.Errorf("a line has all of a long value: %s", out)
	}
	says(t, "blame|p 1|①:note|--whole", exit.Done, "word end")
	decisions := says(t, "decisions|p 1", exit.Done, "answer by Grace, because she said so", `answered "word word`,
		"…")
	if strings.Contains(decisions, "end") {
		t.Errorf("a line has all of a long answer: %s", decisions)
	}
	says(t, "decisions|p 1|--whole", exit.Done, "word end")
	says(t, "blame|p 1|②:n|--at|1", exit.Done, "it was there from the beginning")
	says(t, "blame|p 1|②:n", exit.Done, "Idea 2 is the first that shows it")
	says(t, "blame|p 1|①:mood|--json", exit.Done, `"by":"1.1@①"`, `"saw":1`)
	says(t, "verify|p 1", exit.Done, "p 1: whole, 3 Ideas, the latest has the digest ")

	says(t, "verify|--all", exit.Done, "p 1: whole, 3 Ideas", "broken; not checked: values that belong to no chain")
	says(t, "verify|--all|--json", exit.Done, `[{"process":"`, `"whole":true`,
		"!not checked: values that belong to no chain, and the store's own settings")
	says(t, "verify", exit.Usage, "!name a process or a file, or use --all")
	says(t, "verify|--all|p 1", exit.Usage, "!--all checks every chain of the store")

	file := filepath.Join(t.TempDir(), "p.jsonl")
	says(t, "export|p 1|-o|"+file, exit.Done, file+": whole, 3 Ideas")
	whole, err := os.ReadFile(file)
	if err != nil || says(t, "export|p 1", exit.Done) != string(whole) {
		t.Errorf("standard output gets something else than the file: %v", err)
	}
	t.Setenv("PROCESSIDEA_STORE", filepath.Join(dir, "nowhere"))
	says(t, "verify|"+file, exit.Done, "whole")
	if err := os.WriteFile(file, []byte(strings.Replace(string(whole), "good", "evil", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, "verify|"+file, exit.Failed, ": broken, 3 Ideas\n  Idea 2: line 3: ", "1 Idea cannot be loaded: 2")
	says(t, "verify|"+file+"|--json", exit.Failed, `"whole":false,`, `"broken":[{"at":2,"part":"line 3"`)
}

func TestABrokenChainFailsTheAudit(t *testing.T) {
	dir := audited(t)
	place := filepath.Join(dir, "ideas", "p%201", "2.json")
	data, err := os.ReadFile(place)
	if err == nil {
		err = os.WriteFile(place, []byte(strings.Replace(string(data), "good", "evil", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	says(t, "verify|p 1", exit.Failed, "p 1: broken, 3 Ideas\n  Idea 2: ideas/p%201/2.json: ",
		"\n    later Ideas that depend on it, and cannot be loaded either: 3\n", "2 Ideas cannot be loaded: 2, 3")
	if err := os.MkdirAll(filepath.Join(dir, "ideas", "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ideas", "a", "note.txt"), []byte("stray"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, "verify|--all", exit.Failed, "p 1: broken, 3 Ideas", "2 broken; not checked: ")
	says(t, "show|p 1|--at|2", exit.Failed, "!load Idea 2 of p 1: ideas/p%201/2.json: ")
	says(t, "history|p 1", exit.Failed, "!ideas/p%201/2.json")
	file := filepath.Join(t.TempDir(), "p.jsonl")
	says(t, "export|p 1|-o|"+file, exit.Failed, "!ideas/p%201/2.json")
	if left, _ := filepath.Glob(file + "*"); len(left) > 0 {
		t.Errorf("an export that failed left %v", left)
	}
}

func TestAnAuditSaysWhatIsWrongWithTheQuestion(t *testing.T) {
	audited(t)
	for line, want := range map[string]string{
		"history|q":                     "list Ideas of q: the store has no Idea of a process with this id",
		"verify|q":                      "verify q: the store has no Idea",
		"export|q":                      "export q: the store has no Idea",
		"blame|q|x":                     "look at q: the store has no Idea",
		"blame|p 1|x":                   "it names none of the 2 instances; write ①:PATH",
		"blame|p 1|①:x":                 "nothing stands there",
		"blame|p 1|①:mood|--at|9":       "look at Idea 9 of p 1: there are 3",
		"diff|q|1|2":                    "compare q: the store has no Idea",
		"diff|p 1|1|x":                  `"x" is not the number of an Idea`,
		"diff|p 1|0|1":                  `"0" is not the number of an Idea`,
		"diff|p 1|1|9":                  "compare Idea 9 of p 1: there are 3",
		"show|p 1|--at|9":               "show Idea 9 of p 1: there are 3",
		"export|p 1|-o|/nowhere/x":      "write /nowhere/x: ",
		"gc":                            "collect what is older than 0s: it must be at least 2h0m0s",
		"gc|--older-than|1h|--json":     "want 2h at least",
		"verify|" + os.Args[0]:          "this is no export of a chain",
		"gc|--older-than|-5h|--yes":     "want a duration from ",
		"diff|p 1|1":                    "diff: B is missing; want ",
		"gc|--older-than|720h|whatever": `unexpected argument "whatever"`,
	} {
		says(t, line, exit.Usage, "!"+want)
	}
}

func TestWhatIsOldIsCollectedOnlyOnDemandAndOnlyWithTemporalsConsent(t *testing.T) {
	dir := audited(t)
	says(t, "gc|--older-than|720h", exit.Unreachable, "!127.0.0.1:1")
	dry := says(t, "gc|--older-than|720h|--store-only", exit.Done, "would remove 1 chain (3 Ideas, ", "  p 1\n",
		"nothing was removed", "!Temporal is not asked")
	says(t, "verify|p 1", exit.Done)
	says(t, "gc|--older-than|720h|--store-only|--json", exit.Done, `{"removed":false,"chains":["p 1"],"ideas":3,`)
	if did := says(t, "gc|--older-than|720h|--store-only|--yes", exit.Done,
		"removed 1 chain (3 Ideas, "); strings.Count(did, "\n") != strings.Count(dry, "\n")-1 {
		t.Errorf("announced %q, did %q", dry, did)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "ideas", "*", "*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// Who decided what is told as people were asked it: the sentence, and the name of the instance.
func TestDecisionsAreToldInTheWordsOfTheBusiness(t *testing.T) {
	dir := audited(t)
	values, err := blobs.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer values.Close()
	idea, err := jsonval.DecodeObject([]byte(`{"config": {"instanceName": "†` + "`order ${input.order}`" + `"},
		"schema": {"tools": {"refund": {"type": "object", "_title": "†` + "`Refund ${cents} to ${input.customer}`" + `",
			"properties": {"cents": {"type": "integer", "_display": "money", "currency": "EUR", "minorUnits": true}}}}},
		"context": [{"type": "input", "_instance": "①", "order": 4711, "customer": "Ada"},
			{"type": "state", "_instance": "①", "done": true}]}`))
	if err != nil {
		t.Fatal(err)
	}
	decision := approval.Decision{Kind: "approve", CallID: "1.1@①", Tool: "refund", DecidedBy: "ann",
		ShownParams: map[string]any{"cents": json.Number("229900")}}
	if _, err := chain.New(values).Seal(t.Context(), chain.IdeaToSeal{ProcessID: "q", IdeaNumber: 1, Idea: idea,
		Log: []turn.LogEntry{{InstanceToken: "①", Decision: &decision}}}); err != nil {
		t.Fatal(err)
	}
	says(t, "decisions|q", exit.Done, "1.1@①  approve by ann", "\n    Refund 2,299.00 EUR to Ada (order 4711)\n",
		"shown refund {")
	says(t, "decisions|q|--json", exit.Done, `"sentence":"Refund 2,299.00 EUR to Ada"`, `"instanceName":"order 4711"`)
	file := filepath.Join(t.TempDir(), "q.html")
	says(t, "export|q|--html|-o|"+file, exit.Done)
	page, err := os.ReadFile(file)
	for _, want := range []string{"approved: Refund 2,299.00 EUR to Ada (order 4711)", "<summary>order 4711"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report does not say %q: %v", want, err)
		}
	}
}
