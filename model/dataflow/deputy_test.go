package dataflow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/dataflow"
	"processidea/model/modeltest"
)

// deputyOf tells a Call that bob may decide in place of somebody of finance, from an hour before now until one after.
func deputyOf(t *testing.T, i *dataflow.Instance, whom, to string) {
	t.Helper()
	if err := tell(i, whom, to, modeltest.StartTime.Add(-time.Hour), modeltest.StartTime.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

func tell(i *dataflow.Instance, whom, to string, from, until time.Time) error {
	return decide(i, approval.SteerDeputy, fmt.Sprintf(`{"call": "1.1", "id": "order:%s", "order": {"id": %q, "to": %q,
		"by": %q, "groups": ["finance"], "from": %q, "until": %q, "reason": "on leave"}}`, whom, whom, to, whom,
		from.Format(time.RFC3339), until.Format(time.RFC3339)))
}

func TestADeputyDecidesInPlaceOfAnotherAndTheDecisionNamesBoth(t *testing.T) {
	t.Parallel()
	i := vault(t, twoOfFinance, "")
	digest := i.PendingApprovals()[0].Digest
	deputyOf(t, i, "ann", "bob")
	if err := approve(carried(t, i), "1.1", "Bob"); err != nil {
		t.Fatal(err)
	}
	i = carried(t, i)
	_ = approve(i, "1.1", "bob")
	p := i.PendingApprovals()[0]
	if told := p.Explanation()[0]; p.Digest != digest ||
		!strings.HasSuffix(p.DecidersInWords(), "(so far bob in place of ann)") || told != "bob may decide in place "+
		"of ann from 2026-11-01T08:00:00Z until 2026-11-01T10:00:00Z: on leave" {
		t.Errorf("%q, %q", p.DecidersInWords(), told)
	}
	if err := approve(i, "1.1", "eve"); err != nil || len(i.Advance()) != 1 {
		t.Fatal(err)
	}
	made := i.CallRecords()[0].Decisions
	if made[0].DecidedBy != "bob" || made[0].OnBehalfOf == nil || made[0].OnBehalfOf.Name != "ann" || made[1].OnBehalfOf != nil ||
		made[0].Describe() != "approved by bob in place of ann" {
		t.Errorf("%+v", made)
	}
}

// Whom the rules exclude, a deputy is no way around it: for all of them the two are one person.
func TestADeputyAndInWhosePlaceTheyDecideAreOnePerson(t *testing.T) {
	t.Parallel()
	const rules = `{"groups": ["finance"], "count": 2, "notStarter": true, "notSameAs": ["prepare"]}`
	by := func(call, who string, groups ...string) func(*dataflow.Instance) error {
		return func(i *dataflow.Instance) error { return approve(i, call, who, groups...) }
	}
	names := func(whom, to string) func(*dataflow.Instance) error {
		return func(i *dataflow.Instance) error { deputyOf(t, i, whom, to); return nil }
	}
	for name, c := range map[string]struct {
		acts []func(*dataflow.Instance) error
		why  string // of the last
	}{
		"nobody named them": {[]func(*dataflow.Instance) error{by("1.1", "bob")}, "bob may not decide on it"},
		"for another": {[]func(*dataflow.Instance) error{names("ann", "bob"), by("1.1", "eve")},
			"eve may not decide"},
		"for who started it": {[]func(*dataflow.Instance) error{names("sam", "bob"), by("1.1", "bob")},
			"sam started the process, and may not decide on it"},
		"who started it": {[]func(*dataflow.Instance) error{names("ann", "sam"), by("1.1", "sam")},
			"sam started the process, and may not decide on it"},
		"both approve": {[]func(*dataflow.Instance) error{names("ann", "bob"), by("1.1", "bob"),
			by("1.1", "ann", "finance")},
			"bob has decided on it already (approve); it takes 2 people"},
		"both approve, the other first": {[]func(*dataflow.Instance) error{names("ann", "bob"),
			by("1.1", "ann", "finance"), by("1.1", "bob")}, "ann has decided on it already"},
		"for two people": {[]func(*dataflow.Instance) error{names("ann", "bob"), names("cid", "bob"), by("1.1", "bob"),
			by("1.1", "bob")}, "bob has decided on it already"},
		"for themselves, and for another": {[]func(*dataflow.Instance) error{names("ann", "bob"),
			by("1.1", "bob", "finance"), by("1.1", "bob", "finance")}, "bob has decided on it already"},
		"they decided on the other Call": {[]func(*dataflow.Instance) error{names("ann", "bob"), by("1.2", "bob"),
			by("1.1", "bob")}, "bob decided on 1.2, and may not decide on 1.1 too"},
		"the other decided on the other Call": {[]func(*dataflow.Instance) error{names("ann", "bob"), by("1.2", "ann"),
			by("1.1", "bob")}, "ann decided on 1.2, and may not decide on 1.1 too"},
		"the other decides on the other Call later": {[]func(*dataflow.Instance) error{names("ann", "bob"),
			by("1.1", "bob"), by("1.2", "ann")}, "ann decided on 1.1, and may not decide on 1.2 too"},
	} {
		i := vault(t, rules, "")
		var err error
		for n, act := range c.acts {
			if err = act(i); err != nil && n < len(c.acts)-1 {
				t.Fatalf("%s: act %d: %v", name, n, err)
			}
			i = carried(t, i)
		}
		if !strings.Contains(modeltest.ErrorText(err), c.why) {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
}

func TestADeputyDecidesInTheirTimeAndWhereThePolicyAllowsAHandOver(t *testing.T) {
	t.Parallel()
	now := modeltest.StartTime
	const late = "may not decide on it"
	for name, c := range map[string]struct {
		from, until, ended time.Time
		why                string
	}{
		"at the beginning": {now, now.Add(time.Hour), time.Time{}, ""},
		"before":           {now.Add(time.Second), now.Add(time.Hour), time.Time{}, late},
		"at the end":       {now.Add(-time.Hour), now, time.Time{}, late},
		"ended early":      {now.Add(-time.Hour), now.Add(time.Hour), now, late},
	} {
		i := vault(t, `{"groups": ["finance"]}`, "")
		err := tell(i, "ann", "bob", c.from, c.until)
		if !c.ended.IsZero() {
			err = tell(i, "ann", "bob", c.from, c.ended)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := approve(i, "1.1", "bob"); !strings.Contains(modeltest.ErrorText(err), c.why) ||
			(c.why == "") != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	i := vault(t, `{"groups": ["finance"]}, "allow": ["approve", "ask"]`, "")
	if err := tell(i, "ann", "bob", now, now.Add(time.Hour)); err == nil ||
		err.Error() != "deputy is not allowed here; allowed: approve, ask" {
		t.Error(err)
	}
}

func TestADeputyTakesAndGivesWhatWasHandedOver(t *testing.T) {
	t.Parallel()
	i := vault(t, `{"groups": ["finance"]}`, "")
	deputyOf(t, i, "ann", "bob")
	if err := decide(i, approval.HandOver,
		`{"call": "1.1", "by": "cid", "groups": ["finance"], "to": "ann"}`); err != nil {
		t.Fatal(err)
	}
	if err := decide(i, approval.HandOver, `{"call": "1.1", "by": "bob", "to": "eve"}`); err != nil {
		t.Fatal(err)
	}
	if r := i.PendingApprovals()[0].LastHandOver(); r.OnBehalfOf == nil || r.OnBehalfOf.Name != "ann" {
		t.Errorf("%+v", r)
	}
	if err := approve(i, "1.1", "bob"); err == nil || !strings.Contains(err.Error(), "has handed it over to eve") {
		t.Error(err)
	}
	_ = decide(i, approval.HandOver, `{"call": "1.1", "by": "bob", "to": "ann"}`)
	if err := approve(i, "1.1", "bob"); err != nil {
		t.Error(err)
	}
}

// signed is an act with a proof of who took it.
func signed(t *testing.T, i *dataflow.Instance, who, kind, payload string) error {
	t.Helper()
	m := modeltest.MustDecodeJSON(payload).(map[string]any)
	if order, is := m["order"].(map[string]any); is {
		order["proof"] = "a.b.c"
	} else {
		m["proof"] = "a.b.c"
	}
	d, err := approval.ReadDecision(kind, m)
	if err != nil {
		t.Fatal(err)
	}
	d.CallID, d.ApprovalDigest = "1.1", i.PendingApprovals()[0].Digest
	want := d.DecisionToProve("p")
	if d.Order != nil {
		want = d.Order.DecisionToProve("p")
	}
	d.Verification = &proof.Verification{ProcessID: "p", KeyThumbprint: "k",
		Claims: proof.Claims{Issuer: who, Subject: who,
			Groups: []string{"finance"}, IssuedAt: modeltest.StartTime.Unix(), ID: who + kind, ProcessID: "p",
			CallID: want.CallIDs[0], ApprovalDigest: want.ApprovalDigest, DecisionKind: want.Kind,
			DetailsDigest: want.DetailsDigest}}
	return i.ApplyDecision(d)
}

// Where decisions are signed, so is whatever gives somebody the right to take one, and a Call that was handed over is
// decided by a proof that names the new person.
func TestWhereDecisionsAreSignedAHandOverAndADeputyAre(t *testing.T) {
	t.Parallel()
	const rules = `{"groups": ["finance"]}, "proof": "signed"`
	now := modeltest.StartTime
	deputy := fmt.Sprintf(`{"call": "1.1", "order": {"id": "o", "to": "bob", "until": %q}}`,
		now.Add(time.Hour).Format(time.RFC3339))
	for name, c := range map[string]struct {
		acts func(i *dataflow.Instance) (before, last error)
		why  string
	}{
		"handed over without a proof": {func(i *dataflow.Instance) (error, error) {
			return nil, decide(i, approval.HandOver, `{"call": "1.1", "by": "ann", "groups": ["finance"], "to": "bob"}`)
		}, "it needs a signed decision, but this one has no proof"},
		"decided by who handed it over": {func(i *dataflow.Instance) (error, error) {
			return signed(t, i, "ann", approval.HandOver, `{"call": "1.1", "to": "bob"}`),
				signed(t, i, "ann", policy.Approve, `{"call": "1.1"}`)
		}, "ann has handed it over to bob"},
		"in the new person's name by another proof": {func(i *dataflow.Instance) (error, error) {
			return signed(t, i, "ann", approval.HandOver, `{"call": "1.1", "to": "bob"}`),
				signed(t, i, "ann", policy.Approve, `{"call": "1.1", "by": "bob"}`)
		}, "the proof is by ann, but the decision says that it is by bob"},
		"by the new person": {func(i *dataflow.Instance) (error, error) {
			return signed(t, i, "ann", approval.HandOver, `{"call": "1.1", "to": "bob"}`),
				signed(t, i, "bob", policy.Approve, `{"call": "1.1"}`)
		}, ""},
		"by a deputy": {func(i *dataflow.Instance) (error, error) {
			return signed(t, i, "ann", approval.SteerDeputy, deputy),
				signed(t, i, "bob", policy.Approve, `{"call": "1.1"}`)
		}, ""},
		"by a deputy, declared": {func(i *dataflow.Instance) (error, error) {
			return signed(t, i, "ann", approval.SteerDeputy, deputy),
				decide(i, policy.Approve, `{"call": "1.1", "by": "bob"}`)
		}, "it needs a signed decision"},
		"by a deputy whom nobody proved to have named": {func(i *dataflow.Instance) (error, error) {
			i.SetStartersAndPriorDecisions(policy.IdentitiesNamed("bob"), nil)
			return tell(i, "ann", "bob", now.Add(-time.Hour), now.Add(time.Hour)),
				signed(t, i, "bob", policy.Approve, `{"call": "1.1"}`)
		}, "it needs a signed decision, of a deputy who was named with a proof"},
	} {
		with := rules
		if strings.Contains(c.why, "named with") {
			with = `{"people": ["ann"]}, "proof": "signed"`
		}
		i := vault(t, with, "")
		before, err := c.acts(i)
		if before != nil || !strings.Contains(modeltest.ErrorText(err), c.why) || (c.why == "") != (err == nil) {
			t.Errorf("%s: %v, %v, want %q", name, before, err, c.why)
		}
	}
	d, _ := approval.ReadDecision(approval.HandOver, map[string]any{"call": "1.1", "to": "bob"})
	other := d
	other.RecipientName = "eve"
	if d.DecisionToProve("p").DetailsDigest == other.DecisionToProve("p").DetailsDigest {
		t.Error("a proof of one hand-over is one of another")
	}
}

func TestAPolicySaysWhoMayBeAskedAndWhatMayBeSaid(t *testing.T) {
	t.Parallel()
	remarks := map[string]string{
		approval.Comment:  `{"call": "1.1", "by": "ann", "reason": "late"}`,
		approval.Ask:      `{"call": "1.1", "by": "ann", "reason": "late?"}`,
		approval.HandOver: `{"call": "1.1", "by": "ann", "to": "bob"}`,
	}
	for allow, taken := range map[string]string{
		`["approve", "reject"]`:                     "comment ask hand-over",
		`["comment", "approve"]`:                    "comment",
		`["approve", "handOver", "ask", "comment"]`: "comment ask hand-over",
		`["approve", "ask"]`:                        "ask",
	} {
		for _, kind := range approval.RemarkKinds() {
			i := vault(t, `{"people": ["ann", "bob"]}, "allow": `+allow, "")
			err := decide(i, kind, remarks[kind])
			if strings.Contains(taken, kind) != (err == nil) ||
				err != nil && !strings.HasPrefix(err.Error(), kind+" is not allowed here; allowed: approve, ") {
				t.Errorf("%s, %s: %v", allow, kind, err)
			}
		}
	}
}
