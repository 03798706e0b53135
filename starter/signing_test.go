package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"processidea/client"
	"processidea/starter/internal/exit"
	"processidea/store/chain"
	"processidea/store/signing"
)

const signedByTwoOfFinance = `{"proof": "signed", "by": {"groups": ["finance"], "count": 2}}`

// keyed gives people keys, and lists them where the worker looks.
func (d *desk) keyed() {
	d.Helper()
	for _, line := range []string{"ann --group finance", "bob --group finance", "eve"} {
		name, _, _ := strings.Cut(line, " ")
		args := append([]string{"keys", "person", "--out", name + ".key", "--deciders", "deciders.json"},
			strings.Fields(line)...)
		if e := d.do(args...).is(exit.Done); strings.Count(e.out, "\n") != 1 || strings.Contains(e.out, `"d"`) ||
			!strings.Contains(e.out, `"people":["`+name+`"]`) {
			d.Errorf("%s", e.out)
		}
		if info, err := os.Stat(filepath.Join(d.dir, name+".key")); err != nil || info.Mode().Perm() != 0o600 {
			d.Error(info, err)
		}
	}
	d.do("keys", "person", "ann", "--out", "ann.key").is(exit.Usage).complains("ann.key exists already")
	d.set("PROCESSIDEA_DECIDERS=" + filepath.Join(d.dir, "deciders.json"))
}

func TestPeopleSignDecisionsAndAnybodyChecksThem(t *testing.T) {
	d := newDesk(t, signed(signedByTwoOfFinance))
	d.keyed()
	d.dev()
	list := d.signable("p", 3)
	if e := d.do("approvals", "p").is(exit.Done); !strings.Contains(e.out,
		"decided by 2 of: people of finance, signed") {
		t.Error(e.out)
	}
	for _, c := range []struct{ args, refused string }{
		{"approve p 1.1@1 --by ann --group finance", "it needs a signed decision, but this one has no proof"},
		{"approve p 1.1@1 --key eve.key", "eve may not decide on it, only people of finance may"},
		{"approve p 1.1@1 --key eve.key --group finance", "may not say that eve is of finance"},
		{"approve p 1.1@1 --key ann.key --by bob", "the proof is by ann"},
		{"approve p 1.1@1 --key ann.key --digest 0000", "the digest does not match what waits now"},
		{"approve p 1.1@1 --key nobody.key", "no such file"},
		{"approve p 7.7@1 --key ann.key", `there is no Call "7.7@1"`},
		{"approve p 1.1@1 --key ann.key", ""},
		{"approve p 1.1@1 --key ann.key", "ann has decided on it already"},
		{"approve p 1.1@1 --key bob.key --digest " + list[0].Digest, ""},
		{"amend p 1.1@2 --key ann.key --reason shorter --params {\"text\":\"b\"}", ""},
		{"approve p 1.1@2 --key ann.key", ""},
		{"approve p 1.1@2 --key bob.key", ""},
		{"reject p 1.1@3 --key bob.key --reason no", ""},
	} {
		e := d.do(strings.Fields(c.args)...)
		if c.refused == "" {
			e.is(exit.Done)
			continue
		}
		e.is(exit.Usage).complains(c.refused)
	}
	d.eventually("it ends", func() bool { return d.do("result", "p", "--json").result().Status == "completed" })
	var made []client.RecordedDecision
	d.do("decisions", "p", "--json").is(exit.Done).json(&made)
	if len(made) != 6 || made[0].Signature == nil || made[0].DecidedBy != "ann" || made[0].Groups[0] != "finance" {
		t.Fatalf("%+v", made)
	}
	by := "signed (key " + made[0].Signature.KeyThumbprint + ")"
	if e := d.do("decisions", "p").is(exit.Done); strings.Count(e.out, by) != 3 ||
		!strings.Contains(e.out, "approve by ann of finance, "+by) {
		t.Error(e.out)
	}
	if e := d.do("blame", "p", "②:noted").is(exit.Done); !strings.Contains(e.out,
		"decided by ann of finance: amend, "+by) {
		t.Error(e.out)
	}
	var report chain.Report
	d.do("verify", "p", "--json").is(exit.Done).json(&report)
	if c := report.Decisions; c.Signed != 6 || c.Proven != 6 || c.Declared != 0 {
		t.Errorf("%+v", c)
	}
	if e := d.do("verify", "p").is(exit.Done); !strings.Contains(e.out,
		"6 decisions: 0 declared, 6 signed; every signature is right") {
		t.Error(e.out)
	}
	d.do("export", "p", "-o", "p.jsonl").is(exit.Done)
	page := d.do("export", "p", "--html").is(exit.Done).out
	for _, want := range []string{"<!doctype html>", "The record was whole", "signed: key "} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q: %s", want, page)
		}
	}
	t.Run("by the Python of docs/check_proofs.py", d.checkedWithoutOurCode)
	if e := d.do("verify", "p.jsonl", "--deciders", "deciders.json").is(exit.Done); !strings.Contains(e.out,
		"every signature is right") {
		t.Error(e.out)
	}
	d.do("keys", "person", "ann", "--out", "new.key", "--deciders", "others.json").is(exit.Done)
	if e := d.do("verify", "p", "--deciders", "others.json").is(exit.Failed); !strings.Contains(e.out,
		"the decision on 1.1@① by ann: the key "+made[0].Signature.KeyThumbprint+" is not among those") {
		t.Error(e.out)
	}
}

// writePasskey writes ann's entry of a passkey, as the desk shows it.
func (d *desk) writePasskey(file, kid, origin string) {
	d.Helper()
	entry := `{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","kid":"` + kid + `",
		"iss":"ann","people":["ann"],"groups":["sales"]`
	if origin != "" {
		entry += `,"passkey":{"rpId":"localhost","origins":["` + origin + `"]}`
	}
	if err := os.WriteFile(filepath.Join(d.dir, file), []byte(entry+"}"), 0o600); err != nil {
		d.Fatal(err)
	}
}

func TestAKeyThatSomebodyElseMadeIsAddedToThoseThatCount(t *testing.T) {
	d := newDesk(t, nil)
	d.writePasskey("passkey.json", "a", "http://localhost:8300")
	d.writePasskey("wrong.json", "b", "https://evil.example.com")
	d.writePasskey("plain.json", "c", "")
	add := func(args ...string) ended {
		return d.do(append([]string{"keys", "add", "--deciders", "deciders.json"}, args...)...)
	}
	add("passkey.json", "--group",
		"finance").is(exit.Done).complains(
		"the key a of ann, as one of finance, a passkey for http://localhost:8300, is in deciders.json")
	add("passkey.json").is(exit.Usage).complains("another one has the same kid")
	add("wrong.json").is(exit.Usage).complains("is no address of")
	add("nothing.json").is(exit.Usage).complains("no such file")
	add("plain.json").is(exit.Done).complains("the key c of ann, as one of sales, is in deciders.json")
	add().is(exit.Usage).complains("keys add: FILE is missing")
	d.do("keys", "add", "plain.json").is(exit.Usage).complains("--deciders FILE")
	d.do("keys", "person", "bob", "--out", "bob.key", "--deciders", "deciders.json").is(exit.Done)
	list, err := os.ReadFile(filepath.Join(d.dir, "deciders.json"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := signing.ParseKeys(list)
	if err != nil || keys.Len() != 3 || keys.Find("a").Groups[0] != "finance" || keys.Find("b") != nil {
		t.Errorf("%s %v", list, err)
	}
}

// Where decisions are signed, a Call is handed over by a proof that names the new person, whose own proof decides; and
// a deputy is named by one.
func TestASignedHandOverAndADeputysDecisionAreCheckedByAnybody(t *testing.T) {
	d := newDesk(t, signed(`{"proof": "signed", "by": {"groups": ["finance"]}}`))
	d.keyed()
	d.dev()
	d.signable("p", 3)
	for _, c := range []struct{ args, refused string }{
		{"hand-over p 1.1@1 --to bob --by ann --group finance", "it needs a signed decision"},
		{"hand-over p 1.1@1 --to bob --key ann.key", ""},
		{"approve p 1.1@1 --key ann.key", "ann has handed it over to bob"},
		{"approve p 1.1@1 --key bob.key", ""},
		{"approve p 1.1@2 --key eve.key", "eve may not decide on it"},
		{"deputy p leave --to eve --until 2100-01-01T00:00:00Z --key ann.key", ""},
	} {
		if e := d.do(strings.Fields(c.args)...); c.refused == "" {
			e.is(exit.Done)
		} else {
			e.is(exit.Usage).complains(c.refused)
		}
	}
	d.eventually("the Calls are told", func() bool {
		return strings.Count(d.do("approvals", "p").is(exit.Done).out, "eve may decide in place of ann") == 2
	})
	d.do("approve", "p", "1.1@2", "--key", "eve.key").is(exit.Done)
	d.do("approve", "p", "1.1@3", "--key", "bob.key").is(exit.Done)
	d.eventually("it ends", func() bool { return d.do("result", "p", "--json").result().Status == "completed" })
	d.do("decisions", "p").is(exit.Done).tells("hand-over by ann of finance to bob, signed",
		"approve by eve in place of ann")
	d.do("verify", "p").is(exit.Done).tells("0 declared, 4 signed; every signature is right")
	d.do("export", "p", "-o", "p.jsonl").is(exit.Done)
	t.Run("by the Python of docs/check_proofs.py", func(t *testing.T) {
		check := d.pythonOfDocs(t)
		export, err := os.ReadFile(filepath.Join(d.dir, "p.jsonl"))
		if out := check(string(export)); err != nil || strings.Count(out, " good\n") != 4 {
			t.Error(out, err)
		}
	})
}

// A signed order stands behind each Call that it covers: whoever checks the chain finds its proof right, also in a fork
// of it.
func TestASignedStandingOrderIsCheckedByAnybody(t *testing.T) {
	d := newDesk(t, signed(`{"proof": "signed", "by": {"groups": ["finance"], "notSameAs": ["formatText"]}}`))
	d.keyed()
	d.dev()
	d.signable("p", 3)
	allow := func(more ...string) ended {
		return d.do(append([]string{"allow", "p", "small", "--tool", "note", "--count", "5", "--reason", "routine"},
			more...)...)
	}
	allow("--by", "ann", "--group",
		"finance").is(exit.Usage).complains("it needs a signed decision, but this one has no proof")
	allow("--key", "eve.key").is(exit.Usage).complains("eve may not decide on it")
	allow("--key", "ann.key", "--by", "bob").is(exit.Usage).complains("the proof is by ann")
	allow("--key", "ann.key", "--when", `{"properties": {"text": {"maxLength": 3}}}`, "--until",
		"2100-01-01T02:00:00+02:00").is(exit.Done)
	d.eventually("two are approved", func() bool {
		return strings.Contains(d.do("allow", "p").is(exit.Done).out, "2 approved of 5, 3 left, until 2100") &&
			strings.HasSuffix(d.do("allow", "p").out, ", by ann, signed\n")
	})
	d.do("approve", "p", "1.1@3", "--key", "bob.key").is(exit.Done)
	d.eventually("it ends", func() bool { return d.do("result", "p", "--json").result().Status == "completed" })
	if e := d.do("verify", "p").is(exit.Done); !strings.Contains(e.out,
		"3 decisions: 0 declared, 3 signed; every signature is right") {
		t.Error(e.out)
	}
	d.do("export", "p", "-o", "p.jsonl").is(exit.Done)
	t.Run("by the Python of docs/check_proofs.py", func(t *testing.T) {
		check := d.pythonOfDocs(t)
		export, err := os.ReadFile(filepath.Join(d.dir, "p.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if out := check(string(export)); strings.Count(out, " good\n") != 3 || strings.Contains(out, "BROKEN") {
			t.Error(out)
		}
		if out := check(strings.ReplaceAll(string(export), `"count":5`, `"count":6`)); strings.Count(out,
			"BROKEN") != 2 {
			t.Error(out)
		}
	})
	var report chain.Report
	d.do("verify", "p", "--json").is(exit.Done).json(&report)
	d.do("fork", "p", "--at", strconv.Itoa(report.IdeaCount), "--id", "q", "--replies", "replies.jsonl").is(exit.Done)
	// bob's proof, on record and as that of who decided before. The order's is on record too where no Idea was sealed
	// before bob decided.
	d.do("verify", "q", "--json").is(exit.Done).json(&report)
	if c := report.Decisions; c.Inherited != 2 && c.Inherited != 4 || c.Declared+c.Signed != 0 {
		t.Errorf("%+v", c)
	}
}

// With a key, what is decided at the terminal of a run is signed.
func TestWhatIsDecidedAtTheTerminalOfARunIsSigned(t *testing.T) {
	d := newDesk(
		t,
		signed(
			`{"when": {"properties": {"text": {"minLength": 3}}}, "proof": "signed", "by": {"groups": ["finance"]}}`)).set("TERM=xterm")
	d.keyed()
	d.set("PROCESSIDEA_KEY=" + filepath.Join(d.dir, "ann.key"))
	run := d.typist("run", ".", "--id", "p", "--ui-port", "-1")
	run.answers("[s]kip: ", "y")
	d.eventually("it asks about the other", func() bool { return strings.Count(run.seen.String(), "[s]kip: ") == 2 })
	run.answers("[s]kip: ", "n")
	run.answers("why not? ", "not this one")
	if err := run.c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, run.seen.String())
	}
	var made []client.RecordedDecision
	d.do("decisions", "p", "--json").is(exit.Done).json(&made)
	if len(made) != 2 || made[0].DecidedBy != "ann" || made[0].Signature == nil || made[1].Signature == nil ||
		made[1].Reason != "not this one" {
		t.Errorf("%+v", made)
	}
	if e := d.do("verify", "p").is(exit.Done); !strings.Contains(e.out,
		"2 decisions: 0 declared, 2 signed; every signature is right") {
		t.Error(e.out)
	}
}

// The commands of examples/payout work as its README says.
func TestAPayoutIsSignedByTwoOfFinance(t *testing.T) {
	example, err := filepath.Abs("../examples/payout")
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, nil)
	d.set("PATH="+programs(t)+":"+os.Getenv("PATH"), "PROCESSIDEA_DECIDERS="+filepath.Join(d.dir, "deciders.json"))
	if e := d.do("check", example).is(exit.Done); !strings.Contains(e.out,
		"PROCESSIDEA_DECIDERS must name the deciders' keys: decisions on pay are signed") {
		t.Error(e.out)
	}
	for _, line := range commandsOf(t, "../examples/payout/README.md", "go run ./starter ") {
		command, comment, _ := strings.Cut(strings.Replace(line, "go run ./starter ", "", 1), "#")
		args := strings.Fields(strings.Replace(command, "examples/payout", example, 1))
		if args[0] == "dev" {
			d.dev()
			continue
		}
		if args[0] == "approvals" {
			d.eventually("it waits",
				func() bool { return strings.Contains(d.do(args...).out, strings.TrimSpace(comment)) })
			continue
		}
		e := d.do(args...)
		switch comment = strings.TrimSpace(comment); {
		case strings.Contains(comment, "has no proof"):
			e.is(exit.Usage).complains(comment)
		case strings.HasPrefix(comment, "a second time: "):
			e.is(exit.Usage).complains(strings.TrimPrefix(comment, "a second time: "))
		case args[0] == "result":
			d.eventually("it is paid",
				func() bool { return strings.Contains(d.do(args...).out, "240000 cents were paid to Lamps Ltd.") })
		default:
			if text, _, _ := strings.Cut(comment, "…"); !strings.Contains(e.is(exit.Done).out, text) &&
				args[0] != "run" && args[0] != "approve" {
				t.Errorf("%s: %s", line, e.out)
			}
		}
	}
}

// checkedWithoutOurCode runs the Python of docs over an export, and over one in which a letter of a proof is another.
func (d *desk) checkedWithoutOurCode(t *testing.T) {
	check := d.pythonOfDocs(t)
	export, err := os.ReadFile(filepath.Join(d.dir, "p.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if out := check(string(export)); strings.Count(out, " good\n") != 6 || strings.Contains(out, "BROKEN") {
		t.Error(out)
	}
	for from, to := range map[string]string{
		`"by":"bob","call"`: `"by":"eve","call"`, `"reason":"shorter"`: `"reason":"longer"`,
		`"params":{"text":"b"}`: `"params":{"text":"c"}`,
		`"call":"1.1@③"`:        `"call":"1.1@②"`,
	} {
		if out := check(strings.ReplaceAll(string(export), from, to)); !strings.Contains(out, "BROKEN") {
			t.Errorf("%s: %s", to, out)
		}
	}
}

// pythonOfDocs checks an export by the Python of the documents.
func (d *desk) pythonOfDocs(t *testing.T) (check func(export string) string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil || exec.CommandContext(t.Context(), python, "-c", "import cryptography").Run() != nil {
		t.Skip("there is no python3 with cryptography")
	}
	script, err := filepath.Abs("../docs/check_proofs.py")
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), python, script, filepath.Join(d.dir, "deciders.json"))
		c.Stdin = strings.NewReader(text)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
}
