package proof_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"processidea/model/approval/proof"
	"processidea/model/jsonval"
)

var asked = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func good() proof.Claims {
	return proof.Claims{
		Issuer: "ann", Subject: "ann", Groups: []string{"finance"}, IssuedAt: asked.Unix() + 60, ID: "1",
		ProcessID: "refunds", CallID: "1.2@⑬", ApprovalDigest: "d", DecisionKind: "approve",
		DetailsDigest: proof.DetailsDigest(nil),
	}
}

func decision() proof.ExpectedDecision {
	return proof.ExpectedDecision{ProcessID: "refunds", CallIDs: []string{"1.2@⑬", "1.2@13"}, ApprovalDigest: "d",
		Kind:          "approve",
		DetailsDigest: proof.DetailsDigest(nil)}
}

func TestAProofIsForOneDecisionAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*proof.Claims, *proof.ExpectedDecision)
		want   string
	}{
		{"as it is", func(*proof.Claims, *proof.ExpectedDecision) {}, ""},
		{"the other spelling of the Call", func(c *proof.Claims, _ *proof.ExpectedDecision) { c.CallID = "1.2@13" },
			""},
		{"the whole of a part", func(_ *proof.Claims, d *proof.ExpectedDecision) { d.ProcessID = "refunds/~part/7" },
			""},
		{"a part by name", func(c *proof.Claims, d *proof.ExpectedDecision) {
			c.ProcessID, d.ProcessID = "refunds/~part/7",
				"refunds/~part/7"
		}, ""},
		{"a part's delegate", func(c *proof.Claims, d *proof.ExpectedDecision) {
			c.ProcessID, d.ProcessID = "refunds/~call/1.1@13", "refunds/~part/7/~call/1.1@13"
		}, ""},
		{"a delegate", func(_ *proof.Claims, d *proof.ExpectedDecision) { d.ProcessID = "refunds/~call/1.1@13" },
			"for process refunds, not for refunds/~call/1.1@13"},
		{"another process", func(c *proof.Claims, _ *proof.ExpectedDecision) { c.ProcessID = "refunds-2" },
			"for process refunds-2, not for refunds"},
		{"another Call", func(c *proof.Claims, _ *proof.ExpectedDecision) { c.CallID = "1.3@13" }, "for Call 1.3@13"},
		{"a Call of every instance", func(c *proof.Claims, _ *proof.ExpectedDecision) { c.CallID = "1.2" },
			"for Call 1.2, not for 1.2@⑬"},
		{"another digest", func(c *proof.Claims, _ *proof.ExpectedDecision) { c.ApprovalDigest = "e" },
			"another digest"},
		{"another decision", func(c *proof.Claims, _ *proof.ExpectedDecision) { c.DecisionKind = "reject" },
			"for the decision reject, not for approve"},
		{"another reason", func(_ *proof.Claims, d *proof.ExpectedDecision) {
			d.DetailsDigest = proof.DetailsDigest(map[string]any{"reason": "x"})
		}, "another reason"},
	} {
		claims, d := good(), decision()
		c.change(&claims, &d)
		err := claims.CheckMatches(d)
		if (c.want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestAProofCountsWhileItsTimesAreRight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*proof.Verification)
		want   string
	}{
		{"as it is", func(*proof.Verification) {}, ""},
		{"refused", func(f *proof.Verification) { f.RefusalReason = "no" }, "no"},
		{"signed before anybody was asked", func(f *proof.Verification) { f.Claims.IssuedAt = asked.Unix() - 301 },
			"before anybody was asked"},
		{"by a clock that is late", func(f *proof.Verification) { f.Claims.IssuedAt = asked.Unix() - 300 }, ""},
		{"by a clock that is early", func(f *proof.Verification) { f.Claims.IssuedAt = asked.Unix() + 3900 }, ""},
		{"signed tomorrow", func(f *proof.Verification) { f.Claims.IssuedAt = asked.Unix() + 3901 }, "which is in the future"},
		{"not expired", func(f *proof.Verification) { f.Claims.ExpiresAt = asked.Unix() + 3300 }, ""},
		{"expired", func(f *proof.Verification) { f.Claims.ExpiresAt = asked.Unix() + 3299 },
			"expired at 2026-11-23T12:54:59Z"},
		{"a key to be withdrawn", func(f *proof.Verification) { f.KeyWithdrawnAt = asked.Add(time.Hour + 1) }, ""},
		{"a key that was withdrawn", func(f *proof.Verification) { f.KeyWithdrawnAt = asked.Add(time.Hour) }, "was withdrawn at"},
	} {
		f := proof.Verification{Claims: good(), KeyThumbprint: "k"}
		c.change(&f)
		err := f.CheckTime(asked, asked.Add(time.Hour))
		if (c.want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestWhatAProofMustSayIsNamed(t *testing.T) {
	t.Parallel()
	if c, err := proof.ReadClaims(good().Encode()); err != nil || string(c.Encode()) != string(good().Encode()) {
		t.Fatal(c, err)
	}
	for key, v := range map[string]any{
		"iss": nil, "sub": nil, "jti": "", "process": nil, "call": json.Number("1"), "digest": nil, "decision": []any{},
		"details": nil,
		"groups":  "finance", "iat": "now", "exp": json.Number("-1"), "nbf": json.Number("1"), "name": " ",
	} {
		m, _ := jsonval.DecodeObject(good().Encode())
		m[key] = v
		if _, err := proof.ReadClaims(jsonval.Encode(m)); err == nil || !strings.Contains(err.Error(), `"`+key+`"`) {
			t.Errorf("%s: %v", key, err)
		}
	}
	for _, text := range []string{``, `[]`, `{"iat":1e10}`,
		strings.Replace(string(good().Encode()), `"sub"`, `"sub":"eve","sub"`, 1)} {
		if _, err := proof.ReadClaims([]byte(text)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

func TestDetailsAreTheDigestOfCanonicalJSON(t *testing.T) {
	t.Parallel()
	payload, _ := jsonval.DecodeObject(
		[]byte(`{"call": "1.1", "by": "ann", "id": "7", "reason": "é", "params": {"b": 1.50, "a": [null, "x/y"]}}`))
	sum := sha256.Sum256([]byte(`{"params":{"a":[null,"x/y"],"b":1.50},"reason":"é"}`))
	if got := proof.DetailsDigest(payload); got != hex.EncodeToString(sum[:]) {
		t.Error(got)
	}
	if proof.DetailsDigest(map[string]any{"reason": nil}) != proof.DetailsDigest(map[string]any{"reason": ""}) ||
		proof.DetailsDigest(nil) == proof.DetailsDigest(map[string]any{"output": nil}) {
		t.Error("a reason of null is none, and an output of null is one")
	}
}
