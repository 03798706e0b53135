package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"processidea/client/forget"
	"processidea/model/jsonval"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/server"
)

// large is a text that goes into the store.
var large = strings.Repeat(" and is large", jsonval.LargeValueBytes/10)

// adas writes a folder of a process about Ada, who came by a road, and gives its name.
func (d *desk) adas(road string, more ...string) string {
	d.Helper()
	dir := filepath.Join(d.dir, road)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.Fatal(err)
	}
	files := judge()
	files["idea.json"] = strings.ReplaceAll(files["idea.json"], "This is wonderful!",
		"Ada Lovelace came by "+road+strings.Join(more, ""))
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			d.Fatal(err)
		}
	}
	return road
}

// roads are all ways by which something about Ada comes in. Each gives the processes that are then to be forgotten.
var roads = []struct {
	name string
	come func(d *desk, n server.ServerInfo) []string
}{
	{"start", func(d *desk, _ server.ServerInfo) []string {
		d.do("run", d.adas("start"), "--id", "start").is(exit.Done)
		d.do("run", "start", "--id", "start").is(exit.Done) // again, as it is gone on with
		return []string{"start"}
	}},
	{"refused start", func(d *desk, _ server.ServerInfo) []string {
		d.do("run", d.adas("refused"), "--id", "start").is(exit.Usage)
		d.do("run", d.adas("refused large", large), "--id", "start").is(exit.Usage)
		return nil
	}},
	{"failed start", func(d *desk, _ server.ServerInfo) []string {
		broken := filepath.Join(d.dir, d.adas("failed"), "idea.json")
		text := `{"schema": {"tools": {"judge": "Ada Lovelace"}}, "context": [{"type": "Ada Lovelace"}]}`
		if err := os.WriteFile(broken, []byte(text), 0o600); err != nil {
			d.Fatal(err)
		}
		d.do("run", "failed", "--id", "failed").is(exit.Usage)
		return nil
	}},
	{"fork", func(d *desk, _ server.ServerInfo) []string {
		d.do("fork", "start", "--at", "1", "--id", "fork", "--replies", "start/replies.jsonl").is(exit.Done)
		return []string{"fork"}
	}},
	{"schedule", func(d *desk, _ server.ServerInfo) []string {
		d.do("schedule", "new", "nightly", d.adas("schedule"), "--every", "1h",
			"--replies", "schedule/replies.jsonl").is(exit.Done)
		d.do("schedule", "now", "nightly").is(exit.Done)
		d.eventually("one was started", func() bool {
			list := d.schedules()
			return len(list) == 1 && len(list[0].LatestStarts) == 1
		})
		id := d.schedules()[0].LatestStarts[0].ProcessID
		d.do("watch", id).is(exit.Done)
		d.do("schedule", "end", "nightly").is(exit.Done) // what it starts from is its own
		return []string{id}
	}},
	{"HTTP", func(d *desk, n server.ServerInfo) []string {
		for range 2 { // as a webhook that is sent again
			d.post(n, `{"id": "http", "idea": {"context": [{"type": "text", "text": "Ada Lovelace came by HTTP"}],`+
				`"schema": {"tools": {}}}, "replies": "{\"solution\": {\"calls\": [], \"output\": null}}"}`)
		}
		return []string{"http"}
	}},
	{"webhook", func(d *desk, n server.ServerInfo) []string {
		for _, more := range []string{"", "", large} { // sent again, and then with another body
			d.hook(n, "msg_1", `{"data": {"text": "Ada Lovelace came by webhook`+more+`"}}`)
		}
		d.do("watch", "orders.msg_1").is(exit.Done)
		return []string{"orders.msg_1"}
	}},
	{"delegate", func(d *desk, _ server.ServerInfo) []string {
		for name, text := range map[string]string{
			"told.json": orderIdea,
			"delegate.json": `{"schema": {"tools": {"tell": {"type": "object",
				"properties": {"text": {"type": "string"}}, "_delegate": "told.json"}}},
				"context": [{"type": "plan", "stage": "complete",
				"plan": [{"_tool": "tell", "text": "Ada Lovelace came by delegate` + large + `"}]}]}`,
		} {
			if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
				d.Fatal(err)
			}
		}
		d.do("run", "delegate.json", "--id", "delegate").is(exit.Done)
		return []string{"delegate"}
	}},
	{"add and revise", func(d *desk, _ server.ServerInfo) []string {
		d.signable("people", 2)
		for name, text := range map[string]string{
			"more.csv":        "text\nAda Lovelace came by add\n",
			"correction.yaml": "context:\n- {type: state, _instance: ③, text: Ada Lovelace came by revise}\n",
		} {
			if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
				d.Fatal(err)
			}
		}
		d.do("add", "people", "--instances", "more.csv").is(exit.Done)
		d.do("revise", "people", "--file", "correction.yaml").is(exit.Done)
		return []string{"people"}
	}},
}

// ordersSecret signs the webhooks that ordersRule is for.
var ordersSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret that nobody guesses"))

const (
	ordersRule = `{"hooks": {"orders": {"idea": "order.json", "secret": "$env:ORDERS", "input": ".data"}}}`
	// orderIdea has a Tool work on what comes in, without an LLM.
	orderIdea = `{"schema": {"tools": {"feel": {"type": "object", "properties": {"text": {"type": "string"}},
		"required": ["text"], "_activity": "analyzeSentiment", "_outputPath": "mood"}}},
		"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "feel", "text": "†input.text"}]}]}`
)

// hook sends a webhook.
func (d *desk) hook(n server.ServerInfo, id, body string) {
	d.Helper()
	u, err := url.Parse(n.GatewayURL)
	if err != nil {
		d.Fatal(err)
	}
	key, err := webhook.NewWebhook(ordersSecret)
	if err != nil {
		d.Fatal(err)
	}
	now := time.Now()
	signature, err := key.Sign(id, now, []byte(body))
	if err != nil {
		d.Fatal(err)
	}
	d.send("http://"+u.Host+"/hooks/orders", body, "webhook-id", id, "webhook-timestamp",
		strconv.FormatInt(now.Unix(), 10), "webhook-signature", signature)
}

// finds checks what is said of who holds a text.
func (d *desk) finds(text, says string) {
	d.Helper()
	if e := d.do("find", text).is(exit.Done); e.out != says {
		d.Errorf("%q is found in\n%s", text, e.out)
	}
}

// post starts a process over HTTP.
func (d *desk) post(n server.ServerInfo, body string) {
	d.Helper()
	u, err := url.Parse(n.GatewayURL)
	if err != nil {
		d.Fatal(err)
	}
	d.send("http://"+u.Host+"/api/processes", body, "Authorization", "Bearer "+u.Query().Get("token"))
}

// send posts JSON, with headers, each a name and a value.
func (d *desk) send(to, body string, headers ...string) {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		var text bytes.Buffer
		_, _ = text.ReadFrom(answer.Body)
		d.Fatalf("%s: %s", answer.Status, text.String())
	}
}

// What came in by whatever road is nowhere on the disk once its processes are forgotten: in no database, log, store or
// temporary file.
func TestByWhateverRoadItCameItIsNowhereOnceItIsForgotten(t *testing.T) {
	temporary := t.TempDir()
	// The server's files are looked through.
	files := signed(long)
	files["hooks.json"], files["order.json"] = ordersRule, orderIdea
	d := newDesk(t, files).ownServer()
	d.set("TMPDIR="+temporary, "PROCESSIDEA_HOOKS="+filepath.Join(d.dir, "hooks.json"), "ORDERS="+ordersSecret)
	n, _ := d.dev()
	came := map[string][]string{}
	for _, road := range roads {
		came[road.name] = road.come(d, n)
	}
	if len(found(t, d.data(), "Ada Lovelace")) == 0 {
		t.Fatal("what is looked for was never there")
	}
	for _, road := range roads {
		for _, id := range came[road.name] {
			if id != "fork" { // goes with what it was forked from
				d.do("forget", id, "--cancel", "--with-forks").is(exit.Done)
			}
		}
	}
	for _, dir := range []string{d.data(), temporary} {
		for text, files := range found(t, dir, "Ada Lovelace") {
			t.Errorf("%q still stands in %q", text, files)
		}
	}
	d.finds("Ada Lovelace", "")
}

// Of several customers in one process one is forgotten; what is not reached is said, with an exit code of its own.
func TestOneOfSeveralInstancesIsForgottenAndWhatIsLeftIsSaid(t *testing.T) {
	stores := map[string][]string{"plain": nil, "encrypted": {"PROCESSIDEA_KEYS=" + freshKey(t, "k1")}}
	for name, variables := range stores {
		t.Run(name, func(t *testing.T) {
			// The server's files are looked through.
			d := newDesk(t, nil).ownServer().set(variables...)
			d.do("run", d.adas("p"), "--id", "p", noUI).is(exit.Done)
			held := d.do("find", "ada LOVELACE").is(exit.Done)
			held.holds("① of p: ", "context.state.text in Ideas 1 to 2", "① of p: history in Temporal")
			d.do("forget", "p", "--instance", "7").is(exit.Usage).complains("the process has no such instance")
			d.do("forget", "p", "--instance", "1", "--cancel").is(exit.Usage).complains("cancel the process first")
			d.do("forget", "p", "--instance", "1", "--by", "ann").is(exit.IncompleteForget).
				holds("not removed: the history of p in Temporal", "① of p: forgotten")
			var r forget.Result
			d.do("forget", "p", "--instance", "1", "--with-history", "--json").is(exit.Done).json(&r)
			if r.DeletedRunCount == 0 || len(r.KeptWorkflowIDs)+len(r.Mentions) > 0 {
				t.Errorf("%+v", r)
			}
			for text, files := range found(t, d.data(), "Ada Lovelace") {
				t.Errorf("%q still stands in %q", text, files)
			}
			d.finds("Ada Lovelace", "")
			d.do("verify", "p").is(exit.Done).holds("whole", "① was forgotten on", "by ann")
			d.do("show", "p").is(exit.Done).holds("This is terrible.", "strong ones")
			d.do("export", "p", "-o", "p.jsonl").is(exit.Done)
			d.do("verify", "p.jsonl").is(exit.Done).holds("whole", "① was forgotten on")
			// It has one more Request than there are replies.
			d.do("fork", "p", "--at", "1", "--id", "f", "--replies", "p/replies.jsonl").is(exit.Paused)
			d.do("find", "terrible", "--store-only", "--json").is(exit.Done).holds(`{"process":"f","instance":"②"`)
		})
	}
}

// A process of many instances is split: its own chain and its part's lose the instance.
func TestOneOfManyInstancesIsForgotten(t *testing.T) {
	// The server's files are looked through.
	d := newDesk(t, nil).ownServer()
	var rows strings.Builder
	rows.WriteString("text\n")
	for n := range 101 {
		fmt.Fprintf(&rows, "customer %d. of many\n", n+1)
	}
	replies := strings.Split(judge()["replies.jsonl"], "\n")
	for name, text := range map[string]string{
		"many.csv": rows.String(), "replies.jsonl": strings.Join(append(replies, replies[1], replies[1]), "\n"),
		"many.json": `{"config": {"batch": 60}, "schema": {"tools": {"judge": {"type": "object",
			"properties": {"text": {"type": "string"}}, "required": ["text"], "_output": {"type": "string"}}}},
			"context": []}`,
	} {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
			d.Fatal(err)
		}
	}
	d.dev()
	d.do("run", "many.json", "--instances", "many.csv", "--id", "p", "--replies", "replies.jsonl").is(exit.Done)
	d.do("forget", "p", "--instance", "70", "--with-history").is(exit.Done).holds("in 2 chains")
	for text, files := range found(t, d.data(), "customer 70. of") {
		t.Errorf("%q still stands in %q", text, files)
	}
	d.finds("customer 70. of", "")
	d.do("find", "customer 71. of").is(exit.Done).holds("71 of p: context.input.text in Ideas 1 to 3")
	d.do("verify", "--all").is(exit.Done).holds("was forgotten on", "0 broken")
	d.do("forget", "p", "--instance", "70", "--with-history").is(exit.Done).holds("0 Ideas")
}

// A schedule starts the next process from what it started the forgotten one from.
func TestForgetNamesTheScheduleThatStartedTheProcess(t *testing.T) {
	d := newDesk(t, nil).ownServer() // the files of another are not reached
	d.dev()
	d.do("schedule", "new", "nightly", d.adas("schedule"), "--every", "1h", "--replies",
		"schedule/replies.jsonl").is(exit.Done)
	d.do("schedule", "now", "nightly").is(exit.Done)
	d.eventually("one was started", func() bool {
		list := d.schedules()
		return len(list) == 1 && len(list[0].LatestStarts) == 1
	})
	id := d.schedules()[0].LatestStarts[0].ProcessID
	d.do("watch", id).is(exit.Done)
	const left = `not removed: what schedule nightly starts processes from: "schedule end" deletes it`
	d.do("forget", id, "--instance", "1", "--with-history").is(exit.IncompleteForget).holds(left)
	d.do("forget", id).is(exit.IncompleteForget).holds(left)
	d.do("schedule", "end", "nightly").is(exit.Done).complains("stay in the store until gc removes them")
	d.do("forget", id).is(exit.Done)
	for text, files := range found(t, d.data(), "Ada Lovelace") {
		t.Errorf("%q still stands in %q", text, files)
	}
}

func TestAnInstanceOfAProcessAtWorkIsNotForgotten(t *testing.T) {
	d := newDesk(t, signed(long))
	d.dev()
	d.signable("p", 2)
	d.do("forget", "p", "--instance", "1").is(exit.Usage).complains("the process is at work")
	d.do("verify", "p").is(exit.Done)
}
