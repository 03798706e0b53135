package server_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"processidea/gateway/hooks"
	"processidea/gateway/server"
)

var hookSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret that nobody guesses"))

const noteIdea = `{"meta": {"path": "hooked"}, "schema": {
	"tools": {"note": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "_outputPath": "†state.noted"}}},
	"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "note", "text": "†input.text"}]}]}`

// hooked is a gateway with rules for webhooks.
func hooked(t *testing.T, rules string) (*house, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"hooks.json": rules, "idea.json": noteIdea} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := hooks.Open(filepath.Join(dir, "hooks.json"), hookEnvironment)
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, func(o *server.Options) { o.Hooks = r })
	h.token = ""
	return h, dir
}

func hookEnvironment(name string) string {
	return map[string]string{"ORDERS": "whsec_" +
		base64.StdEncoding.EncodeToString([]byte("the secret that is to come, next")) + " " + hookSecret}[name]
}

// hook sends a webhook that the standard's own library signs.
func (h *house) hook(name, id, body string, at time.Time) *answer {
	h.Helper()
	key, err := webhook.NewWebhook(hookSecret)
	if err != nil {
		h.Fatal(err)
	}
	signature, err := key.Sign(id, at, []byte(body))
	if err != nil {
		h.Fatal(err)
	}
	sender := "webhook-"
	if strings.HasPrefix(id, "svix_") { // which has names of its own
		sender = "svix-"
	}
	return h.ask("POST", "/hooks/"+name, body, sender+"id", id, sender+"timestamp", strconv.FormatInt(at.Unix(), 10),
		sender+"signature", signature)
}

const ordersRule = `{"hooks": {
	"orders": {"idea": "idea.json", "secret": "$env:ORDERS", "when": ".type == \"order.placed\"", "input": "{text: .data.note, n: .data.n}"},
	"whole": {"idea": "idea.json", "secret": "$env:ORDERS"},
	"rows": {"idea": "idea.json", "secret": "$env:ORDERS", "instances": ".data[]"}}}`

func TestAWebhookStartsAProcessOnce(t *testing.T) {
	h, dir := hooked(t, ordersRule)
	now := time.Now()
	const placed = `{"type": "order.placed", "data": {"note": "it came", "n": 12345678901234567890}}`
	h.hook("orders", "msg_2", placed, now.Add(time.Minute)).is(201)
	first := h.hook("orders", "msg_1", placed, now.Add(-time.Minute)).is(201).object() // out of order
	if first["process"] != "orders.msg_1" || first["attached"] != false {
		t.Errorf("%v", first)
	}
	for name, again := range map[string]*answer{
		"replayed":           h.hook("orders", "msg_1", placed, now.Add(-time.Minute)),
		"sent again":         h.hook("orders", "msg_1", placed, now),
		"with another body":  h.hook("orders", "msg_1", strings.Replace(placed, "came", "went", 1), now),
		"after the Idea was": changedIdea(t, h, dir, placed, now),
	} {
		if got := again.is(200).object(); got["process"] != "orders.msg_1" || got["attached"] != true {
			t.Errorf("%s: %s", name, again.body)
		}
	}
	h.hook("orders", "msg_3", `{"type": "order.paid"}`, now).is(204)
	h.hook("orders", "svix_1", placed, now).is(201)
	h.hook("orders", "msg_mark", "\uFEFF"+placed, now).is(201)
	odd := h.hook("orders", "Ä/b c.", placed, now).is(201).object()["process"].(string)
	if !strings.HasPrefix(odd, "orders.~") {
		t.Errorf("it is called %s", odd)
	}
	h.token = token
	for _, id := range []string{"orders.msg_1", "orders.msg_2", odd} {
		result := h.get("/api/processes/" + id + "/result?wait=60").is(200)
		if !strings.Contains(string(result.body), `"it came"`) {
			t.Errorf("%s came to %s", id, result.body)
		}
	}
	if idea := h.get("/api/processes/orders.msg_1/ideas/latest").is(200); !strings.Contains(string(idea.body),
		"12345678901234567890") ||
		!strings.Contains(string(idea.body), "webhook orders") {
		t.Errorf("%s", idea.body)
	}
	h.get("/api/processes/orders.msg_3").is(404)
	if strings.Contains(h.log.String(), hookSecret) || strings.Contains(h.log.String(), "it came") {
		t.Errorf("the log has too much: %s", h.log)
	}
}

// changedIdea sends a webhook again after its Idea file was changed.
func changedIdea(t *testing.T, h *house, dir, body string, at time.Time) *answer {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "idea.json"), []byte(strings.Replace(noteIdea, "hooked", "changed", 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	return h.hook("orders", "msg_1", body, at)
}

func TestManyOfTheSameWebhookAtOnceStartOneProcess(t *testing.T) {
	h, _ := hooked(t, ordersRule)
	other := open(t, func(o *server.Options) {
		o.Hooks, _ = hooks.Open(filepath.Join(hookedAgain(t), "hooks.json"), hookEnvironment)
	})
	other.token = ""
	var g sync.WaitGroup
	statuses := make([]int, 20)
	now := time.Now()
	for n := range statuses {
		g.Go(func() {
			statuses[n] = []*house{h, other}[n%2].hook("whole", "msg_many", `{"text": "once"}`, now).status
		})
	}
	g.Wait()
	if count := strings.Count(fmt.Sprint(statuses), "201"); count != 1 ||
		strings.Count(fmt.Sprint(statuses), "200") != len(statuses)-1 {
		t.Errorf("%v", statuses)
	}
}

func hookedAgain(t *testing.T) string { _, dir := hooked(t, ordersRule); return dir }

func TestAWebhookBringsInstances(t *testing.T) {
	h, _ := hooked(t, ordersRule)
	id := h.hook("rows", "msg_rows", `{"data": [{"text": "a"}, {"text": "b"}, {"_instance": "x", "text": "c"}]}`,
		time.Now()).is(201).object()["process"].(string)
	h.hook("rows", "msg_none", `{"data": []}`, time.Now()).is(204)
	h.token = token
	instances := h.get("/api/processes/" + id + "/result?wait=60").is(200).object()["instances"].(map[string]any)
	if len(instances) != 3 || instances["x"] == nil {
		t.Errorf("%v", instances)
	}
}

func TestAWebhookThatCannotBeTrustedStartsNothing(t *testing.T) {
	h, _ := hooked(t, ordersRule)
	now := time.Now()
	body := `{"text": "no"}`
	other, _ := webhook.NewWebhookRaw([]byte("another secret of some length"))
	stamp := strconv.FormatInt(now.Unix(), 10)
	signed := func(id, text string) string { s, _ := other.Sign(id, now, []byte(text)); return s }
	good := func() string {
		key, _ := webhook.NewWebhook(hookSecret)
		s, _ := key.Sign("msg_good", now, []byte(body))
		return s
	}()
	for name, headers := range map[string][]string{
		"nothing":      {},
		"no signature": {"webhook-id", "msg_x", "webhook-timestamp", stamp},
		"no timestamp": {"webhook-id", "msg_good", "webhook-signature", good},
		"another id":   {"webhook-id", "msg_x", "webhook-timestamp", stamp, "webhook-signature", good},
		"another time": {"webhook-id", "msg_good", "webhook-timestamp", strconv.FormatInt(now.Unix()+1, 10),
			"webhook-signature", good},
		"another secret": {"webhook-id", "msg_x", "webhook-timestamp", stamp, "webhook-signature",
			signed("msg_x", body)},
		"another version": {"webhook-id", "msg_good", "webhook-timestamp", stamp, "webhook-signature",
			strings.Replace(good, "v1,", "v2,", 1)},
		"no version": {"webhook-id", "msg_good", "webhook-timestamp", stamp, "webhook-signature",
			strings.TrimPrefix(good, "v1,")},
		"a timestamp that is no…": {"webhook-id", "msg_good", "webhook-timestamp", "soon", "webhook-signature", good},
	} {
		if a := h.ask("POST", "/hooks/whole", body, headers...); a.status != 401 ||
			a.object()["code"] != "bad-signature" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	h.ask("POST", "/hooks/whole", body+" ", "webhook-id", "msg_good", "webhook-timestamp", stamp, "webhook-signature",
		good).problem(401, "bad-signature")
	h.hook("whole", "msg_old", body, now.Add(-6*time.Minute)).problem(401, "bad-signature")
	h.hook("whole", "msg_new", body, now.Add(6*time.Minute)).problem(401, "bad-signature")
	h.hook("nobody", "msg_good", body, now).problem(404, "not-found")
	h.hook("whole", "msg_list", `[1]`, now).problem(422, "invalid")
	h.hook("whole", "msg_text", `no JSON`, now).problem(422, "invalid")
	h.hook("whole", "msg_twice", `{"a": 1, "a": 2}`, now).problem(422, "invalid")
	h.hook("rows", "msg_numbers", `{"data": [1, 2]}`, now).problem(422, "invalid")
	h.hook("whole", "msg_large", `{"text": "`+strings.Repeat("x", hooks.MaxBodyBytes)+`"}`, now).problem(413, "too-large")
	h.ask("GET", "/hooks/whole", nil).problem(405, "method-not-allowed")
	plain := open(t)
	plain.token = ""
	plain.hook("whole", "msg_good", body, now).problem(404, "not-found")
	h.token = token
	if list := string(h.get("/api/processes?limit=200").is(200).body); strings.Contains(list, `"whole.msg_`) &&
		!strings.Contains(list, "msg_many") {
		t.Errorf("something was started: %s", list)
	}
	h.ask("POST", "/hooks/whole", body, "Origin", "https://evil.example").problem(403, "foreign-page")
}

func TestABrokenRuleIsRefusedBeforeTheGatewayServes(t *testing.T) {
	for rules, want := range map[string]string{
		`{`:            "JSON",
		`{"hook": {}}`: `want {"hooks"`,
		`{"hooks": {"a.b": {"idea": "idea.json", "secret": "$env:ORDERS"}}}`:                               "a name has letters",
		`{"hooks": {"a": {"secret": "$env:ORDERS"}}}`:                                                      `"idea" is missing`,
		`{"hooks": {"a": {"idea": "none.json", "secret": "$env:ORDERS"}}}`:                                 "none.json",
		`{"hooks": {"a": {"idea": "broken.json", "secret": "$env:ORDERS"}}}`:                               "broken.json",
		`{"hooks": {"a": {"idea": "idea.json"}}}`:                                                          `"secret" must name a variable`,
		`{"hooks": {"a": {"idea": "idea.json", "secret": "whsec_eW91"}}}`:                                  `"secret" must name a variable`,
		`{"hooks": {"a": {"idea": "idea.json", "secret": "$env:NOBODY"}}}`:                                 "NOBODY is not set",
		`{"hooks": {"a": {"idea": "idea.json", "secret": "$env:SHORT"}}}`:                                  "secret 1 of SHORT must be whsec_",
		`{"hooks": {"a": {"idea": "idea.json", "secret": "$env:ORDERS", "input": "["}}}`:                   `"input" is not a jq`,
		`{"hooks": {"a": {"idea": "idea.json", "secret": "$env:ORDERS", "input": ".", "instances": "."}}}`: "exclude each other",
		`{"hooks": {"a": {"idea": "idea.json", "secret": "$env:ORDERS", "input": ".a = 1"}}}`:              `"input" is not a jq expression that a rule may have: = is not allowed`,
		`{"hooks": {"a": {"idea": "idea.json", "secret": "$env:ORDERS", "inptu": "."}}}`:                   `unknown key "inptu"; a rule has`,
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"hooks.json": rules, "idea.json": noteIdea,
			"broken.json": `{"contxt": 1}`} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := hooks.Open(filepath.Join(dir, "hooks.json"), func(name string) string {
			if name == "SHORT" {
				return "whsec_eW91"
			}
			return hookEnvironment(name)
		})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "eW91") {
			t.Errorf("%s: %v, want %s", rules, err, want)
		}
	}
}
