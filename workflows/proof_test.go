package workflows_test

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/proof"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/signing"
	"processidea/store/chain"
)

// signers are those whose keys the worker trusts: ann, bob, cid and sam of finance, eve of nothing; gus was of finance until his key was withdrawn. Of the
// stranger it knows nothing.
var signers = keyring{}

type keyring map[string]*signing.PrivateKey

// open makes the keys, and the file that lists them.
func (k keyring) open() (*signing.Source, error) {
	var list []any
	for _, name := range []string{"ann", "bob", "cid", "sam", "eve", "gus", "stranger"} {
		groups := []string{"finance"}
		if name == "eve" {
			groups = nil
		}
		key, err := signing.NewPersonKey(name, groups)
		if err != nil {
			return nil, err
		}
		k[name] = key
		line, err := key.Public()
		if err != nil {
			return nil, err
		}
		entry, err := jsonval.DecodeObject(line)
		if err != nil {
			return nil, err
		}
		if name == "gus" {
			entry["withdrawn"] = "2020-01-01T00:00:00Z"
		}
		if name != "stranger" {
			list = append(list, entry)
		}
	}
	file := filepath.Join(storeDir, "..", filepath.Base(storeDir)+"-deciders.json")
	if err := os.WriteFile(file, jsonval.Encode(map[string]any{"keys": list}), 0o600); err != nil {
		return nil, err
	}
	return signing.Open(context.Background(), file)
}

// claims are what a proof of a decision on what waits says, before somebody signs it.
func claimsFor(process string, a turn.PendingApproval, kind string, details map[string]any) proof.Claims {
	return proof.Claims{
		IssuedAt: time.Now().Unix(), ID: fmt.Sprint(time.Now().UnixNano()), Process: process, Call: a.CallID, Digest: a.Digest, Decision: kind,
		Details: proof.Details(details),
	}
}

// forge signs claims without looking whether the key may speak so.
func forge(t *testing.T, k *signing.PrivateKey, c proof.Claims, header string) string {
	t.Helper()
	jws, err := k.Sign(proof.Claims{IssuedAt: 1, ID: "1", Process: "p", Call: "c", Digest: "d", Decision: "d", Details: "d"})
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(jws, ".")
	if header == "" {
		raw, _ := base64.RawURLEncoding.DecodeString(parts[0])
		header = string(raw)
	}
	input := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString(c.Encode())
	secret, err := jsonval.DecodeObject(k.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + base64.RawURLEncoding.EncodeToString(edSign(t, secret["d"].(string), []byte(input)))
}

// waiting gives what waits in an instance.
func (s *scenario) waiting(instance string) turn.PendingApproval {
	s.t.Helper()
	var v protocol.ApprovalsView
	eventually(s.t, "a Call waits in "+instance, func() bool {
		q, err := s.client.QueryWorkflow(s.t.Context(), instance, "", protocol.QueryApprovals)
		return err == nil && q.Get(&v) == nil && len(v.Approvals) == 1
	})
	return v.Approvals[0]
}

func (s *scenario) sign(who string, c proof.Claims) string {
	s.t.Helper()
	if c.Groups == nil {
		c.Groups = signers[who].Groups
	}
	jws, err := signers[who].Sign(c)
	if err != nil {
		s.t.Fatal(err)
	}
	return jws
}

// wrongProof is a way to decide wrongly, and why it is refused.
type wrongProof struct {
	name, want string
	proof      func(c proof.Claims) any
	more       map[string]any
}

func (s *scenario) wrongProofs() []wrongProof {
	as := func(who string, change func(*proof.Claims)) func(proof.Claims) any {
		return func(c proof.Claims) any {
			if change != nil {
				change(&c)
			}
			return s.sign(who, c)
		}
	}
	forged := func(who, header string, change func(*proof.Claims)) func(proof.Claims) any {
		return func(c proof.Claims) any {
			c.Issuer, c.Subject, c.Groups = "ann", "ann", []string{"finance"}
			if change != nil {
				change(&c)
			}
			return forge(s.t, signers[who], c, header)
		}
	}
	ann := signers["ann"].ID
	eves, _ := signers["eve"].Public()
	anns, _ := signers["ann"].Public()
	return []wrongProof{
		{"no proof", "it takes a signed decision, and this one has no proof", func(proof.Claims) any { return nil }, map[string]any{"by": "ann", "groups": []any{"finance"}}},
		{"no JWS", "no compact JWS", func(proof.Claims) any { return "signed, ann" }, nil},
		{"another's key", "may not speak for ann", forged("eve", "", func(c *proof.Claims) { c.Issuer = "eve" }), nil},
		{"another's key under ann's id", "the signature is not one of the key", forged("eve", `{"alg":"EdDSA","kid":"`+ann+`"}`, nil), nil},
		{"a key that nobody trusts", "not among those that may speak for people here", as("stranger", nil), nil},
		{"a group that is not theirs", "may not say that eve is of finance", forged("eve", "", func(c *proof.Claims) { c.Issuer, c.Subject = "eve", "eve" }), nil},
		{"a group that only the signal claims", "eve may not decide on it", as("eve", nil), map[string]any{"groups": []any{"finance"}}},
		{"the starter", "sam started the process", as("sam", nil), nil},
		{"a key that was withdrawn", "was withdrawn at 2020-01-01", as("gus", nil), nil},
		{"another digest", "another digest", as("ann", func(c *proof.Claims) { c.Digest = strings.Repeat("0", 64) }), nil},
		{"another Call", "for Call 9.9, not for 0.1", as("ann", func(c *proof.Claims) { c.Call = "9.9" }), nil},
		{"another process", "for process other", as("ann", func(c *proof.Claims) { c.Process = "other" }), nil},
		{"another decision", "one to reject, and the decision is to approve", as("ann", func(c *proof.Claims) { c.Decision = "reject" }), nil},
		{"another reason", "another reason", as("ann", nil), map[string]any{"reason": "because"}},
		{"expired", "the proof expired", as("ann", func(c *proof.Claims) { c.Expires = c.IssuedAt - 301 }), nil},
		{"signed long ago", "before anybody was asked", as("ann", func(c *proof.Claims) { c.IssuedAt -= 3600 }), nil},
		{"signed tomorrow", "which is not yet", as("ann", func(c *proof.Claims) { c.IssuedAt += 86400 }), nil},
		{"alg none", `alg "none"`, forged("ann", `{"alg":"none","kid":"`+ann+`"}`, nil), nil},
		{"a JWK inside", `has "jwk"`, forged("eve", `{"alg":"EdDSA","kid":"`+ann+`","jwk":`+string(eves)+`}`, nil), nil},
		{"HS256 with the public key as secret", `alg "HS256"`, func(c proof.Claims) any {
			c.Issuer, c.Subject, c.Groups = "ann", "ann", []string{"finance"}
			input := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","kid":"`+ann+`"}`)) + "." + base64.RawURLEncoding.EncodeToString(c.Encode())
			h := hmac.New(sha256.New, anns)
			h.Write([]byte(input))
			return input + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
		}, nil},
		{"another's name", "the proof is that of ann, and the decision says that it is by bob", as("ann", nil), map[string]any{"by": "bob"}},
	}
}

const signedByTwo = `{"proof": "signed", "by": {"groups": ["finance"], "count": 2, "notStarter": true}}`

// Wherever a Call waits that wants signed decisions, each way to decide wrongly is refused with its reason, and the right ones count.
func TestASignedDecisionIsTheOnlyOneThatCountsWhereverTheCallWaits(t *testing.T) {
	text := `{"type": "text", "text": "t"},`
	for name, c := range map[string]struct {
		config, policy, context string
		instances               []string // workflow ids under the process, each with the Call 0.1
		every                   int
	}{
		"a Plan":               {"", signedByTwo, text + payOnce, []string{"/main"}, 0},
		"continued as new":     {"", signedByTwo, text + payOnce, []string{"/main"}, 1},
		"a broadcast Call":     {"", signedByTwo, rows(1, 2) + `,` + payOnce, []string{"/1", "/2"}, 0},
		"the parts of a split": {`"batch": 1`, signedByTwo, rows(1, 3) + `,` + payOnce, []string{"/~part/1/1", "/~part/2/2", "/~part/3/3"}, 0},
		"a limit of config": {`"approval": {"tools": ["pay"], "proof": "signed", "by": {"count": 2, "notStarter": true}}`,
			`{"proof": "declared", "by": {"groups": ["finance"]}}`, text + payOnce, []string{"/main"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			till := newTill(t)
			s := paying(t, till, c.config, c.policy, c.context)
			s.every = c.every
			run := s.start()
			s.waitsFor(len(c.instances))
			for n, under := range c.instances {
				s.decideSigned(s.id, s.id+under, n == 0)
			}
			s.end(run)
			if len(till.seen()) != len(c.instances) {
				t.Errorf("%d payments", len(till.seen()))
			}
			if c.every == 0 && !strings.Contains(c.instances[0], "~") {
				s.replays(strings.TrimPrefix(strings.TrimPrefix(c.instances[0], "/"), "main"))
			}
			report, err := chain.New(store).Verify(t.Context(), s.id)
			if err != nil || !report.Whole {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
}

// decideSigned has ann and bob approve what waits in an instance; before that, all that decides wrongly is tried.
func (s *scenario) decideSigned(process, instance string, wrong bool) {
	s.t.Helper()
	a := s.waiting(instance)
	send := func(name string, jws any, more map[string]any) string {
		s.t.Helper()
		payload := map[string]any{"call": a.CallID, "id": name}
		if jws != nil {
			payload["proof"] = jws
		}
		for k, v := range more {
			payload[k] = v
		}
		return s.outcome(process, instance, ideafile.Approve, payload)
	}
	for _, w := range s.wrongProofs() {
		if got := send(w.name, w.proof(claimsFor(process, a, ideafile.Approve, nil)), w.more); wrong && !strings.Contains(got, w.want) {
			s.t.Fatalf("%s: %q, want %q", w.name, got, w.want)
		}
		if !wrong {
			break
		}
	}
	anns := s.sign("ann", claimsFor(process, a, ideafile.Approve, nil))
	for _, step := range []struct {
		name, jws, want string
		more            map[string]any
	}{
		{"ann", anns, "", map[string]any{"groups": []any{"heads"}}},
		{"ann's proof again", anns, "was used already", nil},
		{"ann's proof again, by bob", anns, "was used already", map[string]any{"by": "bob"}},
		{"ann again", s.sign("ann", claimsFor(process, a, ideafile.Approve, nil)), "ann has decided on it already", nil},
		{"bob", s.sign("bob", claimsFor(process, a, ideafile.Approve, nil)), "", map[string]any{"by": "Bob", "digest": a.Digest}},
	} {
		if got := send(step.name, step.jws, step.more); !strings.Contains(got, step.want) || (step.want == "") != (got == "") {
			s.t.Fatalf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}

func edSign(t *testing.T, seed string, input []byte) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(seed)
	if err != nil {
		t.Fatal(err)
	}
	return ed25519.Sign(ed25519.NewKeyFromSeed(raw), input)
}
