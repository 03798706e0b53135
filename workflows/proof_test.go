package workflows_test

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/chain"
	"processidea/store/proofs"
	"processidea/store/signing"
)

// signers are those whose keys the worker trusts: ann, bob, cid and sam of finance, eve of nothing; gus was of finance
// until his key was withdrawn. Of the stranger it knows nothing.
var signers = keyring{}

type keyring map[string]*signing.PrivateKey

// open makes the keys, and the file that lists them.
func (k keyring) open() (*signing.KeySource, error) {
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
		line, err := key.PublicJWK()
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
	file := decidersFile()
	if err := os.WriteFile(file, jsonval.Encode(map[string]any{"keys": list}), 0o600); err != nil {
		return nil, err
	}
	source, err := signing.Open(context.Background(), file)
	if err == nil {
		trusted, err = source.Keys(context.Background())
	}
	return source, err
}

func decidersFile() string { return storeDir + "-deciders.json" }

// trusted are the keys of the file.
var trusted *signing.Keys

// proven checks a chain with the keys, and how many of its decisions are signed.
func (s *scenario) proven(process string, want proofs.Counts) {
	s.t.Helper()
	report, err := chain.New(store).WithProofVerifier(trusted).Verify(s.t.Context(), process)
	if err != nil || !report.IsIntact || report.Decisions != want {
		s.t.Errorf("%s: %+v, %v; want %+v", process, report, err, want)
	}
}

// claimsFor returns what a proof of a decision on what waits says, before somebody signs it.
func claimsFor(process string, a approval.PendingCall, kind string, details map[string]any) proof.Claims {
	return proof.Claims{
		IssuedAt: time.Now().Unix(), ID: fmt.Sprint(time.Now().UnixNano()), ProcessID: process, CallID: a.CallID,
		ApprovalDigest: a.Digest, DecisionKind: kind,
		DetailsDigest: proof.DetailsDigest(details),
	}
}

// forge signs claims without looking whether the key may speak so.
func forge(t *testing.T, k *signing.PrivateKey, c proof.Claims, header string) string {
	t.Helper()
	jws, err := k.Sign(proof.Claims{IssuedAt: 1, ID: "1", ProcessID: "p", CallID: "c", ApprovalDigest: "d",
		DecisionKind:  "d",
		DetailsDigest: "d"})
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(jws, ".")
	if header == "" {
		raw, _ := base64.RawURLEncoding.DecodeString(parts[0])
		header = string(raw)
	}
	input := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." +
		base64.RawURLEncoding.EncodeToString(c.Encode())
	secret, err := jsonval.DecodeObject(k.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + base64.RawURLEncoding.EncodeToString(edSign(t, secret["d"].(string), []byte(input)))
}

// waiting gives what waits in an instance.
func (s *scenario) waiting(instance string) approval.PendingCall {
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
	eves, _ := signers["eve"].PublicJWK()
	anns, _ := signers["ann"].PublicJWK()
	return []wrongProof{
		{"no proof", "it needs a signed decision, but this one has no proof", func(proof.Claims) any { return nil },
			map[string]any{"by": "ann", "groups": []any{"finance"}}},
		{"no JWS", "no compact JWS", func(proof.Claims) any { return "signed, ann" }, nil},
		{"another's key", "may not speak for ann", forged("eve", "", func(c *proof.Claims) { c.Issuer = "eve" }), nil},
		{"another's key under ann's id", "the signature does not match",
			forged("eve", `{"alg":"EdDSA","kid":"`+ann+`"}`, nil), nil},
		{"a key that nobody trusts", "not among those that may speak for people here", as("stranger", nil), nil},
		{"a group that is not theirs", "may not say that eve is of finance",
			forged("eve", "", func(c *proof.Claims) { c.Issuer, c.Subject = "eve", "eve" }), nil},
		{"a group that only the signal claims", "eve may not decide on it", as("eve", nil),
			map[string]any{"groups": []any{"finance"}}},
		{"the starter", "sam started the process", as("sam", nil), nil},
		{"a key that was withdrawn", "was withdrawn at 2020-01-01", as("gus", nil), nil},
		{"another digest", "another digest", as("ann", func(c *proof.Claims) {
			c.ApprovalDigest = strings.Repeat("0", 64)
		}),
			nil},
		{"another Call", "for Call 9.9, not for 0.1", as("ann", func(c *proof.Claims) { c.CallID = "9.9" }), nil},
		{"another process", "for process other", as("ann", func(c *proof.Claims) { c.ProcessID = "other" }), nil},
		{"another decision", "for the decision reject, not for approve",
			as("ann", func(c *proof.Claims) { c.DecisionKind = "reject" }), nil},
		{"another reason", "another reason", as("ann", nil), map[string]any{"reason": "because"}},
		{"expired", "the proof expired", as("ann", func(c *proof.Claims) { c.ExpiresAt = c.IssuedAt - 301 }), nil},
		{"signed long ago", "before anybody was asked", as("ann", func(c *proof.Claims) { c.IssuedAt -= 3600 }), nil},
		{"signed tomorrow", "which is in the future", as("ann", func(c *proof.Claims) { c.IssuedAt += 86400 }), nil},
		{"alg none", `alg "none"`, forged("ann", `{"alg":"none","kid":"`+ann+`"}`, nil), nil},
		{"a JWK inside", `has "jwk"`, forged("eve", `{"alg":"EdDSA","kid":"`+ann+`","jwk":`+string(eves)+`}`, nil),
			nil},
		{"HS256 with the public key as secret", `alg "HS256"`, func(c proof.Claims) any {
			c.Issuer, c.Subject, c.Groups = "ann", "ann", []string{"finance"}
			input := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","kid":"`+ann+`"}`)) + "." +
				base64.RawURLEncoding.EncodeToString(c.Encode())
			h := hmac.New(sha256.New, anns)
			h.Write([]byte(input))
			return input + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
		}, nil},
		{"another's name", "the proof is by ann, but the decision says that it is by bob", as("ann", nil),
			map[string]any{"by": "bob"}},
	}
}

const signedByTwo = `{"proof": "signed", "by": {"groups": ["finance"], "count": 2, "notStarter": true}}`

// Wherever a Call waits that wants signed decisions, each way to decide wrongly is refused with its reason, and the
// right ones count.
func TestASignedDecisionIsTheOnlyOneThatCountsWhereverTheCallWaits(t *testing.T) {
	t.Parallel()
	text := `{"type": "text", "text": "t"},`
	for name, c := range longrun.SampleRows(t, 3, map[string]struct {
		config, policy, context string
		instances               []string // workflow ids under the process, each with the Call 0.1
		every                   int
	}{
		"a Plan":           {"", signedByTwo, text + payOnce, []string{"/main"}, 0},
		"continued as new": {"", signedByTwo, text + payOnce, []string{"/main"}, 1},
		"a broadcast Call": {"", signedByTwo, rows(1, 2) + `,` + payOnce, []string{"/1", "/2"}, 0},
		"the parts of a split": {`"batch": 1`, signedByTwo, rows(1, 3) + `,` + payOnce,
			[]string{"/~part/1/1", "/~part/2/2", "/~part/3/3"}, 0},
		"a limit of config": {
			`"approval": {"tools": ["pay"], "proof": "signed", "by": {"count": 2, "notStarter": true}}`,
			`{"proof": "declared", "by": {"groups": ["finance"]}}`, text + payOnce, []string{"/main"}, 0},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			s.proven(s.id, proofs.Counts{Signed: 2 * len(c.instances), Proven: 2 * len(c.instances)})
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
		return s.outcome(process, instance, policy.Approve, payload)
	}
	for _, w := range s.wrongProofs() {
		if got := send(w.name, w.proof(claimsFor(process, a, policy.Approve, nil)), w.more); wrong &&
			!strings.Contains(got, w.want) {
			s.t.Fatalf("%s: %q, want %q", w.name, got, w.want)
		}
		if !wrong {
			break
		}
	}
	anns := s.sign("ann", claimsFor(process, a, policy.Approve, nil))
	for _, step := range []struct {
		name, jws, want string
		more            map[string]any
	}{
		{"ann", anns, "", map[string]any{"groups": []any{"heads"}}},
		{"ann's proof again", anns, "was used already", nil},
		{"ann's proof again, by bob", anns, "was used already", map[string]any{"by": "bob"}},
		{"ann again", s.sign("ann", claimsFor(process, a, policy.Approve, nil)), "ann has decided on it already", nil},
		{"bob", s.sign("bob", claimsFor(process, a, policy.Approve, nil)), "",
			map[string]any{"by": "Bob", "digest": a.Digest}},
	} {
		if got := send(step.name, step.jws, step.more); !strings.Contains(got, step.want) ||
			(step.want == "") != (got == "") {
			s.t.Fatalf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}

// A delegate's Calls want what the process wants that it works for, and a proof for one is none for the other.
func TestADelegateLoosensNoProof(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"config": {"approval": {"proof": "signed", "by": {"notStarter": true}}}, "schema": {"tools": {"settle": {"type": "object", "properties": {}, "_delegate": "settle.json"}}},
		"context": [{"type": "text", "text": "t"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "settle"}]}]}`)
	s.startedBy = []string{"sam"}
	s.file("settle.json", `{"config": {"approval": {"proof": "declared"}}, "schema": {"tools": {"pay": `+
		till.pay(`{"by": {"groups": ["finance"], "count": 2}}`)+`}}, "context": [`+payOnce+`]}`)
	run := s.start()
	delegate := protocol.DelegateID(s.id, "0.1")
	a := s.waiting(delegate + "/main")
	callers := s.sign("ann", claimsFor(s.id, a, policy.Approve, nil))
	if got := s.outcome(delegate, delegate+"/main", policy.Approve,
		map[string]any{"call": "0.1", "id": "caller's", "proof": callers}); !strings.Contains(got,
		"for process "+s.id+", not for "+delegate) {
		t.Error(got)
	}
	s.decideSigned(delegate, delegate+"/main", true)
	s.end(run)
	if len(till.seen()) != 1 {
		t.Errorf("%d payments", len(till.seen()))
	}
	s.proven(delegate, proofs.Counts{Signed: 2, Proven: 2})
}

// What was decided before a fork is in it with its proof; what waits there wants proofs for the fork.
func TestAForkKeepsProofsAndTakesNoneOfWhereItComesFrom(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	plan := `{"type": "plan", "stage": "complete", "plan": [{"_tool": "pay", "n": 1, "_outputPath": "paid"}, {"_tool": "book", "n": "†state.paid.n", "_outputPath": "booked"}]}`
	idea := `{"schema": {"tools": {"pay": ` + strings.Replace(till.pay(signedByTwo), `"_activity"`, `"_output": {"type": "object"}, "_activity"`, 1) + `,
		"book": ` + till.pay(`{"proof": "signed", "by": {"groups": ["finance"], "notSameAs": ["pay"]}}`) + `}}, "context": [{"type": "text", "text": "t"}, ` + plan + `]}`
	s := newScenario(t, idea)
	s.startedBy = []string{"sam"}
	s.start()
	answer := func(who string) string {
		a := s.waiting(s.id + "/main")
		details := map[string]any{"output": map[string]any{"n": 7}}
		return s.outcome(s.id, s.id+"/main", policy.Answer,
			map[string]any{"call": a.CallID, "id": who, "output": details["output"],
				"proof": s.sign(who, claimsFor(s.id, a, policy.Answer, details))})
	}
	for _, who := range []string{"ann", "bob"} {
		if got := answer(who); got != "" {
			t.Fatal(got)
		}
	}
	eventually(t, "book waits", func() bool { return s.waiting(s.id+"/main").CallID == "0.2" })
	a := s.waiting(s.id + "/main")
	cids := s.sign("cid", claimsFor(s.id, a, policy.Approve, nil))
	chains := chain.New(store)
	var from map[string]any
	eventually(t, "the answers are sealed", func() bool {
		links, err := chains.List(t.Context(), s.id)
		if err != nil || len(links) == 0 {
			return false
		}
		from, err = chains.Load(t.Context(), s.id, len(links))
		return err == nil && strings.Contains(asJSON(from["context"]), `"by":"bob"`)
	})
	fork := newScenario(t, idea)
	fork.id, fork.idea, fork.startedBy = s.id+"-fork", chain.ForkedIdea(from), []string{"eve"}
	run := fork.start()
	fork.waitsFor(1)
	for _, step := range []struct {
		name, want string
		jws        any
	}{
		{"no proof", "no proof", nil},
		{"the proof for the origin", "for process " + s.id + ", not for " + fork.id, cids},
		{"ann, who paid", "ann decided on 0.1", s.sign("ann", claimsFor(fork.id, a, policy.Approve, nil))},
		{"cid", "", s.sign("cid", claimsFor(fork.id, a, policy.Approve, nil))},
	} {
		payload := map[string]any{"call": "0.2", "id": step.name}
		if step.jws != nil {
			payload["proof"] = step.jws
		}
		if got := fork.outcome(fork.id, fork.id+"/main", policy.Approve, payload); !strings.Contains(got, step.want) ||
			(step.want == "") != (got == "") {
			t.Fatalf("%s: %q, want %q", step.name, got, step.want)
		}
	}
	fork.end(run)
	fork.proven(fork.id, proofs.Counts{Signed: 1, Proven: 1, Inherited: 2})
	s.cancel()
}

// Of many decisions at once each has a proof of its own: a wrong one leaves the others right. One that is given for all
// counts for the one that it names.
func TestEachOfManyDecisionsHasItsOwnProof(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := paying(t, till, `"batch": 2`, `{"proof": "signed", "by": {"groups": ["finance"]}}`, rows(1, 4)+`,`+payOnce)
	run := s.start()
	list := []any{}
	for n, a := range s.waitsFor(4) {
		who := []string{"ann", "eve", "bob", "cid"}[n]
		list = append(list, map[string]any{"call": a.CallID, "decision": policy.Approve,
			"proof": s.sign(who, claimsFor(s.id, a.PendingCall, policy.Approve, nil))})
	}
	s.signal(s.id, approval.SteerDecideMany, map[string]any{"id": "many", "decisions": list})
	eventually(t, "three are paid", func() bool { return len(till.seen()) == 3 })
	left := s.waitsFor(1)
	s.signal(s.id, approval.SteerDecideMany,
		map[string]any{"id": "one",
			"proof": s.sign("ann", claimsFor(s.id, left[0].PendingCall, policy.Approve,
				map[string]any{"reason": "all"})),
			"reason": "all", "decisions": []any{map[string]any{"call": left[0].CallID, "decision": policy.Approve}}})
	s.end(run)
	s.proven(s.id, proofs.Counts{Signed: 4, Proven: 4})
}

// What was signed of a Plan is checked again with its chain.
func TestASignedDecisionOnAPlanIsProvenAgain(t *testing.T) {
	t.Parallel()
	for kind, said := range map[string]map[string]any{
		approval.SteerApprovePlan: {},
		approval.SteerAmendPlan: {"reason": "twice",
			"calls": []any{map[string]any{"_tool": "pay", "n": json.Number("2"), "_outputPath": "paid"}}},
		approval.SteerRejectPlan: {"reason": "no"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := paying(t, newTill(t), `"approval": {"plan": true, "proof": "signed"}`, "false", rows(1, 2)+`,`+payOnce)
			run := s.start()
			plan := s.planOf(0)
			waits := approval.PendingCall{CallID: plan.ProofCallID(), Digest: plan.Digest}
			more := maps.Clone(said)
			more["proof"] = s.sign("ann", claimsFor(s.id, waits, kind, said))
			s.decidePlan(kind, plan, more)
			_ = run.Get(t.Context(), nil) // it fails where the Plan was rejected
			s.proven(s.id, proofs.Counts{Signed: 1, Proven: 1})
		})
	}
}

// A signed order stands behind every Call that it covers, and its proof is found with each, in the chain of the whole
// and in those of the parts.
func TestASignedStandingOrderProvesWhatItApproves(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{"in one piece": "", "in parts": `"batch": 2`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := paying(t, till, config, `{"proof": "signed", "by": {"groups": ["finance"]}}`, rows(1, 3)+`,`+payOnce)
			run := s.start()
			s.waitsFor(3)
			o := approval.StandingOrder{ID: "small", Tool: "pay", MaxCalls: 10}
			want := o.DecisionToProve(s.id)
			c := proof.Claims{IssuedAt: time.Now().Unix(), ID: "order", ProcessID: want.ProcessID, CallID: o.ID,
				ApprovalDigest: want.ApprovalDigest, DecisionKind: want.Kind, DetailsDigest: want.DetailsDigest}
			s.signal(s.id, approval.SteerGiveStandingOrder, map[string]any{"id": o.ID, "tool": o.Tool,
				"count": o.MaxCalls, "proof": s.sign("ann", c)})
			s.end(run)
			s.proven(s.id, proofs.Counts{Signed: 3, Proven: 3})
			if config != "" {
				s.proven(protocol.PartID(s.id, 1), proofs.Counts{Signed: 2, Proven: 2})
			}
		})
	}
}

// Where no proof is wanted, one that is given counts all the same: a bad one refuses the decision, and a good one says
// who decided.
func TestAProofThatNobodyWantsIsCheckedToo(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := paying(t, till, "", "true", `{"type": "text", "text": "t"},`+payOnce)
	run := s.start()
	a := s.waitsFor(1)[0].PendingCall
	for _, step := range []struct {
		name, want string
		proof      string
	}{
		{"another Call", "for Call 0.9",
			s.sign("eve", func() proof.Claims {
				c := claimsFor(s.id, a, policy.Approve, nil)
				c.CallID = "0.9"
				return c
			}())},
		{"eve", "", s.sign("eve", claimsFor(s.id, a, policy.Approve, nil))},
	} {
		got := s.outcome(s.id, s.id+"/main", policy.Approve,
			map[string]any{"call": "0.1", "id": step.name, "proof": step.proof})
		if !strings.Contains(got, step.want) || (step.want == "") != (got == "") {
			t.Fatalf("%s: %q, want %q", step.name, got, step.want)
		}
	}
	s.end(run)
	s.proven(s.id, proofs.Counts{Signed: 1, Proven: 1})
	s.replays("")
	s.keep("proof", "/main")
}

func edSign(t *testing.T, seed string, input []byte) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(seed)
	if err != nil {
		t.Fatal(err)
	}
	return ed25519.Sign(ed25519.NewKeyFromSeed(raw), input)
}
