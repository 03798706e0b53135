package server_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"processidea/gateway/access"
	"processidea/gateway/server"
	"processidea/store/signing"
)

// gatewayKey is the one that the worker trusts for anybody's decisions.
var gatewayKey *signing.PrivateKey

// deciders are the keys that the worker trusts.
func deciders(dir string) (*signing.KeySource, error) {
	var err error
	if gatewayKey, err = signing.NewIssuerKey("https://gateway.example.com"); err != nil {
		return nil, err
	}
	public, err := gatewayKey.PublicJWK()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "deciders.json")
	if err := os.WriteFile(file, []byte(`{"keys": [`+string(public)+`]}`), 0o600); err != nil {
		return nil, err
	}
	return signing.Open(context.Background(), file)
}

// payout is a Call that two people of finance must sign, and not who started it.
func payout(id string) map[string]any {
	return map[string]any{"id": id, "idea": json.RawMessage(`{
		"meta": {"path": "payout"},
		"schema": {"tools": {"pay": {"type": "object", "properties": {"template": {"type": "string"}, "values": {"type": "object"}}, "required": ["template", "values"],
			"_activity": "formatText", "_outputPath": "†state.receipt",
			"_approval": {"proof": "signed", "by": {"groups": ["finance"], "count": 2, "notStarter": true}}}}},
		"context": [{"type": "plan", "stage": "optimal", "plan": [{"_tool": "pay", "template": "paid {cents}", "values": {"cents": 90000}}]}]}`)}
}

func TestTheGatewaySignsADecisionForThePersonThatTheTokenNames(t *testing.T) {
	issuer := newIssuer(t)
	h := issuer.open(t, gatewayKey)
	id := "payout-" + t.Name()
	as := func(name string, groups ...string) *house {
		return h.as(issuer.token(claims{"email": name, "groups": groups}))
	}
	as("eve@example.com", "finance", "staff").post("/api/processes", payout(id)).is(201)
	waits := as("ann@example.com", "finance", "staff").waiting(id, 1)[0]
	for _, c := range []struct {
		name, group, outcome, reason string
	}{
		{"eve@example.com", "finance", "refused", "started"},
		{"bob@example.com", "sales", "refused", "finance"},
		{"ann@example.com", "finance", "taken", ""},
		{"ann@example.com", "finance", "refused", "already"},
		{"cyd@example.com", "finance", "taken", ""},
	} {
		r := as(c.name, c.group, "staff").decide(decisionOn(waits, "approve"))[0]
		if reason, _ := r["reason"].(string); r["outcome"] != c.outcome || !strings.Contains(reason, c.reason) {
			t.Errorf("%s: %v", c.name, r)
		}
	}
	// Nobody decides in another's name.
	r := as("dan@example.com", "finance", "staff").decide(decisionOn(waits, "approve", "by", "ann@example.com"))[0]
	if r["outcome"] != "invalid" || r["code"] != "forbidden" {
		t.Errorf("%v", r)
	}
	ann := as("ann@example.com", "staff")
	ann.get("/api/processes/" + id + "/result?wait=60").is(200)
	ideas := ann.get("/api/processes/" + id + "/ideas").is(200).list("ideas")
	diff := ann.get("/api/processes/" + id + "/diff?from=1&to=" + jsonText(len(ideas))).is(200)
	var signed []string
	for _, d := range diff.list("decisions") {
		if s, ok := d["signed"].(map[string]any); ok && s["iss"] == "https://gateway.example.com" {
			signed = append(signed, d["by"].(string))
		}
	}
	if !slices.Equal(signed, []string{"ann@example.com", "cyd@example.com"}) {
		t.Errorf("%v: %s", signed, diff.body)
	}
}

// A person is who the issuer says: by another name they stay one, and ann of another issuer is another ann.
func TestAPersonIsTheirIssuersAccountAndNotTheirName(t *testing.T) {
	one, other := newIssuer(t), newIssuer(t)
	for name, key := range map[string]*signing.PrivateKey{"signed": gatewayKey, "declared": nil} {
		h, elsewhere := one.open(t, key), other.open(t, key)
		body := payout("accounts-" + name)
		if key == nil {
			body["idea"] = json.RawMessage(strings.Replace(string(body["idea"].(json.RawMessage)),
				`"proof": "signed", `, "", 1))
		}
		id := body["id"].(string)
		h.as(one.token(claims{"email": "ann@example.com", "sub": "1"})).post("/api/processes", body).is(201)
		waits := h.as(one.token(nil)).waiting(id, 1)[0]
		for _, c := range []struct {
			gateway             *house
			issuer              *issuer
			email, sub, outcome string
			reason              string
		}{
			{h, one, "ann.lee@example.com", "1", "refused", "started"},
			{h, one, "ann@example.com", "another client's", "refused", "started"},
			{elsewhere, other, "ann@example.com", "1", "taken", ""},
			{elsewhere, other, "annie@example.com", "1", "refused", "already"},
			{h, one, "annie@example.com", "7", "taken", ""},
		} {
			as := c.gateway.as(
				c.issuer.token(claims{"email": c.email, "sub": c.sub, "groups": []string{"finance", "staff"}}))
			r := as.decide(decisionOn(waits, "approve"))[0]
			if reason, _ := r["reason"].(string); r["outcome"] != c.outcome || !strings.Contains(reason, c.reason) {
				t.Errorf("%s: %s, %s: %v", name, c.email, c.sub, r)
			}
		}
	}
}

// Whoever has approved a Call is not asked again: it is counted apart while it waits for a second person.
func TestWhatWaitsForASecondPersonIsCountedApart(t *testing.T) {
	h := open(t)
	id := "approved-by-ann"
	start := payment(id, `{"values": {"order": "A1", "cents": 1}}`)
	start["idea"] = json.RawMessage(strings.Replace(string(start["idea"].(json.RawMessage)), `{"timeout"`,
		`{"by": {"count": 2}, "timeout"`, 1))
	h.post("/api/processes", start).is(201)
	h.waiting(id, 1)
	b := h.browse()
	b.open("/?process=" + id).is(200).says("1 case waits for you").link("@").form("Approve").press("Approve").is(200)
	b.open("/?process="+id).is(200).says("1 case waits for a second person, after you").lacks("for you.",
		"for other people").link("show them too").is(200).says("You have decided")
}

// The desk asks nobody whom a rule excludes from the decision.
func TestWhoMayNotDecideIsNotAskedAtTheDesk(t *testing.T) {
	h := open(t)
	id := "started-by-ann"
	start := payment(id, `{"values": {"order": "A1", "cents": 1}}`)
	start["idea"] = json.RawMessage(strings.Replace(string(start["idea"].(json.RawMessage)), `{"timeout"`,
		`{"by": {"notStarter": true}, "timeout"`, 1))
	h.post("/api/processes", start).is(201)
	if got := jsonText(h.waiting(id, 1)[0]["excluded"]); got != `{"startedBy":["ann"]}` {
		t.Errorf("the API says that %s are excluded", got)
	}
	const why = "ann started the process, and may not decide on it"
	b := h.browse()
	b.open("/?process="+id).is(200).says("1 case waits for other people").lacks("for you.", "Approve")
	p := b.open("/?who=all&process=" + id).is(200).says(why).lacks("Approve")
	p.link("@").is(200).says(why).lacks("needed if you reject")
}

func jsonText(v any) string { data, _ := json.Marshal(v); return string(data) }

func TestAKeySignsForThoseForWhomItMaySpeak(t *testing.T) {
	ann, err := signing.NewPersonKey("ann", []string{"finance"})
	if err != nil {
		t.Fatal(err)
	}
	if ann.SignerFor("bob", nil) != nil || ann.SignerFor("", nil) != nil || (*signing.PrivateKey)(nil).SignerFor("ann", nil) != nil {
		t.Error("it speaks for another")
	}
	if ann.SignerFor("ann", []string{"finance", "heads"}) == nil {
		t.Error("it does not speak for its person")
	}
}

func TestWhoMayUseAGatewayIsReadFromTheEnvironment(t *testing.T) {
	roles := filepath.Join(t.TempDir(), "roles.json")
	if err := os.WriteFile(roles, []byte(`{"roles": [{"may": ["look"], "people": ["*"]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	issuer := map[string]string{server.IssuerVariable: "https://issuer.example.com", server.AudienceVariable: "us",
		server.RolesVariable: roles}
	client := map[string]string{server.ClientIDVariable: "desk",
		server.ClientSecretVariable: "a-secret-of-24-characters",
		server.GatewayURLVariable:   "https://gateway.example.com/"}
	maps.Copy(client, issuer)
	with := func(m map[string]string, key, value string) map[string]string {
		out := map[string]string{key: value}
		for k, v := range m {
			if k != key {
				out[k] = v
			}
		}
		return out
	}
	for _, c := range []struct {
		name, address string
		env           map[string]string
		says          string // in the error; empty: there is none
	}{
		{"nothing", "127.0.0.1:8080", nil, server.TokenVariable},
		{"a token", "127.0.0.1:8080", map[string]string{server.TokenVariable: token}, ""},
		{"a short token", "127.0.0.1:8080", map[string]string{server.TokenVariable: "secret"}, "24 characters"},
		{"a token for all", "0.0.0.0:8080", map[string]string{server.TokenVariable: token},
			server.AllowRemoteTokenVariable},
		{"a token for all, in a container", ":8080",
			map[string]string{server.TokenVariable: token, server.AllowRemoteTokenVariable: "true"}, ""},
		{"an issuer", ":8080", issuer, ""},
		{"an issuer without TLS", ":8080", with(issuer, server.IssuerVariable, "http://issuer.example.com"), "https"},
		{"an issuer without an audience", ":8080", with(issuer, server.AudienceVariable, ""), server.AudienceVariable},
		{"an issuer without roles", ":8080", with(issuer, server.RolesVariable, ""), server.RolesVariable},
		{"people who log in", ":8080", client, ""},
		{"a client without a secret", ":8080", with(client, server.ClientSecretVariable, ""),
			server.ClientSecretVariable},
		{"a client without an address", ":8080", with(client, server.GatewayURLVariable, ""),
			server.GatewayURLVariable},
		{"a missing file of roles", ":8080", with(issuer, server.RolesVariable, roles+"x"), "no such file"},
		{"an origin with a path", ":8080", with(issuer, server.OriginsVariable, "https://desk.example.com/"),
			"https://host"},
		{"a switch that is neither", ":8080", with(issuer, server.AllowUnverifiedEmailVariable, "yes"),
			"true or false"},
		{"another", ":8080", with(issuer, server.AllowAgentDecisionsVariable, "1"), "true or false"},
		{"a third", ":8080", map[string]string{server.TokenVariable: token, server.AllowRemoteTokenVariable: "on"},
			server.AllowRemoteTokenVariable + ` is "on"`},
		{"a host with a scheme", ":8080", with(issuer, server.HostsVariable, "http://desk.example.com"),
			server.HostsVariable},
		{"a host with a port", ":8080", with(issuer, server.HostsVariable, "desk.example.com:8080"),
			server.HostsVariable},
		{"an address that is none", ":8080", with(issuer, server.GatewayURLVariable, "desk.example.com"),
			server.GatewayURLVariable},
		{"no folder for agents", ":8080", with(issuer, server.IdeaFolderVariable, roles), server.IdeaFolderVariable},
		{"roles without an issuer", "127.0.0.1:8080", map[string]string{server.TokenVariable: token,
			server.RolesVariable: roles}, server.RolesVariable + " has no effect"},
		{"a secret without its client", ":8080", with(issuer, server.ClientSecretVariable, token),
			server.ClientSecretVariable + " has no effect"},
		{"a missing list of keys", ":8080", with(issuer, signing.DecidersVariable, roles+"x"),
			signing.DecidersVariable},
		{"a missing key", ":8080", with(issuer, server.SigningKeyVariable, roles+"x"), server.SigningKeyVariable},
	} {
		_, err := server.FromEnvironment(c.address, access.Person{Name: "ann"},
			func(name string) string { return c.env[name] })
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("%s: the token stands in the error", c.name)
		}
	}
	_, err := server.FromEnvironment("", access.Person{}, func(string) string { return "x" })
	for _, name := range []string{server.HooksVariable, signing.DecidersVariable, server.SigningKeyVariable,
		server.RolesVariable, server.IssuerVariable, server.ClientSecretVariable, server.GatewayURLVariable,
		server.IdeaFolderVariable,
		server.AllowUnverifiedEmailVariable, server.AllowRemoteTokenVariable, server.OriginsVariable} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("of all that is wrong %s is not said: %v", name, err)
		}
	}
}
