package proofs_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/store/proofs"
	"processidea/store/signing"
)

var at = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// signer is ann of finance, and the keys that know her.
func signer(t *testing.T, withdrawn string) (*signing.PrivateKey, *signing.Keys) {
	t.Helper()
	k, err := signing.NewPersonKey("ann", []string{"finance"})
	if err != nil {
		t.Fatal(err)
	}
	return k, keysOf(t, k, withdrawn)
}

func keysOf(t *testing.T, k *signing.PrivateKey, withdrawn string) *signing.Keys {
	t.Helper()
	line, _ := k.PublicJWK()
	if withdrawn != "" {
		line = []byte(strings.Replace(string(line), "{", `{"withdrawn":"`+withdrawn+`",`, 1))
	}
	keys, err := signing.ParseKeys([]byte(`{"keys":[` + string(line) + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// decided is a signed decision, taken as an instance would.
func decided(t *testing.T, k *signing.PrivateKey, keys *signing.Keys, d approval.Decision) approval.Decision {
	t.Helper()
	d.CallID, d.ApprovalDigest = "1.2@⑬", "ab"
	if d.PlanRequest != nil {
		d.CallID = approval.PlanAwaitingDecision{RequestNumber: *d.PlanRequest}.ProofCallID()
	}
	want := d.DecisionToProve("refunds")
	jws, err := k.Sign(proof.Claims{Groups: []string{"finance"}, IssuedAt: at.Unix(), ID: "1",
		ProcessID: want.ProcessID,
		CallID:    d.CallID, ApprovalDigest: want.ApprovalDigest, DecisionKind: d.Kind,
		DetailsDigest: want.DetailsDigest})
	if err != nil {
		t.Fatal(err)
	}
	f := keys.Verify(jws)
	f.ProcessID = "refunds"
	d.Proof, d.Verification = jws, &f
	d, err = d.VerifyProof(approval.PendingCall{CallID: d.CallID, Digest: "ab", Since: at}, nil, at)
	if err != nil {
		t.Fatal(err)
	}
	if d.DecidedAt, d.Verification = at, nil; d.PlanRequest != nil {
		d.CallID = ""
	}
	d.Deciders = policy.DeciderRules{{Groups: []string{"finance"}, RequiresSignature: true}}
	return d
}

func logOf(list ...approval.Decision) any {
	var log []turn.LogEntry
	for n := range list {
		log = append(log, turn.LogEntry{InstanceToken: "⑬", Decision: &list[n]})
	}
	return turn.EncodeLog(log)
}

func TestADecisionOfEveryKindIsProvenAgain(t *testing.T) {
	t.Parallel()
	k, keys := signer(t, "")
	handle := map[string]any{jsonval.BlobHandleKey: map[string]any{"digest": "x"}}
	request := 3
	for _, d := range []approval.Decision{
		{Kind: policy.Approve},
		{Kind: policy.Reject, Reason: "no"},
		{Kind: policy.Replace, Replacement: map[string]any{"_tool": "x", "n": json.Number("1.50")}},
		{Kind: policy.Answer, AnswerResult: nil},
		{Kind: policy.Answer, AnswerResult: jsonval.EscapeBlobHandles(handle)},
		{Kind: approval.SteerApprovePlan, PlanRequest: &request},
		{Kind: approval.SteerRejectPlan, PlanRequest: &request, Reason: "no"},
		{Kind: approval.SteerAmendPlan, PlanRequest: &request,
			AmendedCalls: []ideafile.WrittenCall{ideafile.ParseWrittenCall(map[string]any{"_tool": "x", "n": handle})}},
	} {
		d = decided(t, k, keys, d)
		for _, with := range []proofs.ProofVerifier{nil, keys} {
			a := proofs.New(with)
			problems := a.CheckDecisionsOfIdea("refunds", logOf(d))
			if len(problems) > 0 || a.Signed != 1 || a.Declared != 0 || (with != nil) != (a.Proven == 1) {
				t.Errorf("%s: %v, %+v", d.Kind, problems, a.Counts)
			}
		}
		d.Reason += " and more"
		if problems := proofs.New(keys).CheckDecisionsOfIdea("refunds", logOf(d)); len(problems) != 1 {
			t.Errorf("%s with another reason: %v", d.Kind, problems)
		}
	}
}

func TestAnAmendmentIsProvenByWhatItsSignerGave(t *testing.T) {
	t.Parallel()
	k, keys := signer(t, "")
	d := decided(t, k, keys,
		approval.Decision{Kind: policy.Amend,
			AmendedParams: map[string]any{"values": map[string]any{"cents": json.Number("5"), "note": nil}}})
	d.ShownParams = map[string]any{"to": "ann", "values": map[string]any{"cents": json.Number("9"), "note": "x",
		"order": "7"}}
	for params, want := range map[string]string{
		`{"to":"ann","values":{"cents":5,"order":"7"}}`:             "",
		`{"to":"ann","values":{"cents":5,"order":"7","note":null}}`: "",
		`{"to":"eve","values":{"cents":5,"order":"7"}}`:             "other parameters",
		`{"to":"ann","values":{"cents":500,"order":"7"}}`:           "other parameters",
		`{"to":"ann","more":1,"values":{"cents":5,"order":"7"}}`:    "other parameters",
		`{"values":{"cents":5,"order":"7"}}`:                        "other parameters",
	} {
		d.AmendedParams, _ = jsonval.DecodeObject([]byte(params))
		if got := strings.Join(proofs.New(keys).CheckDecisionsOfIdea("refunds", logOf(d)), ""); !strings.Contains(got, want) ||
			(want == "") != (got == "") {
			t.Errorf("%s: %q", params, got)
		}
	}
}

func TestAProofThatWasTouchedIsFound(t *testing.T) {
	t.Parallel()
	k, keys := signer(t, "")
	others, _ := signer(t, "")
	otherKeys := keysOf(t, others, "")
	for _, c := range []struct {
		name, process, want string
		keys                proofs.ProofVerifier
		change              func(d *approval.Decision)
	}{
		{"untouched", "refunds", "", keys, func(*approval.Decision) {}},
		{"in a part", "refunds/~part/3", "", keys, func(*approval.Decision) {}},
		{"removed", "refunds", "its proof is gone", nil, func(d *approval.Decision) { d.Proof = "" }},
		{"removed with what was found", "refunds", "its policy wants one", nil,
			func(d *approval.Decision) { d.Proof, d.Signature = "", nil }},
		{"what was found removed", "refunds", "never checked", nil, func(d *approval.Decision) { d.Signature = nil }},
		{"moved to another Call", "refunds", "for Call 1.2@⑬, not for 1.3@⑬", nil,
			func(d *approval.Decision) { d.CallID = "1.3@⑬" }},
		{"moved to another process", "wages", "for process refunds, not for wages", nil, func(*approval.Decision) {}},
		{"another digest", "refunds", "another digest", nil, func(d *approval.Decision) { d.ApprovalDigest = "cd" }},
		{"another decision", "refunds", "for the decision approve, not for answer", nil,
			func(d *approval.Decision) { d.Kind = policy.Answer }},
		{"another reason", "refunds", "another reason", nil, func(d *approval.Decision) { d.Reason = "because" }},
		{"another person", "refunds", "its proof is that of ann", nil,
			func(d *approval.Decision) { d.DecidedBy = "bob" }},
		{"another group", "refunds", "names the groups", nil,
			func(d *approval.Decision) { d.Groups = []string{"heads"} }},
		{"another key", "refunds", "another than the one that was checked", keys,
			func(d *approval.Decision) { d.Signature.KeyThumbprint = "x" }},
		{"a changed signature", "refunds", "the signature does not match", keys,
			func(d *approval.Decision) { d.Proof = d.Proof[:len(d.Proof)-8] + "AAAAAAAA" }},
		{"no JWS", "refunds", "no compact JWS", nil, func(d *approval.Decision) { d.Proof = "x" }},
		{"a key that is gone", "refunds", "not among those", otherKeys, func(*approval.Decision) {}},
		{"a key withdrawn later", "refunds", "", keysOf(t, k, "2026-11-23T12:00:01Z"), func(*approval.Decision) {}},
		{"a key withdrawn before", "refunds", "was withdrawn", keysOf(t, k, "2026-11-23T12:00:00Z"),
			func(*approval.Decision) {}},
	} {
		d := decided(t, k, keys, approval.Decision{Kind: policy.Approve})
		c.change(&d)
		if got := strings.Join(proofs.New(c.keys).CheckDecisionsOfIdea(c.process, logOf(d)), ""); !strings.Contains(got, c.want) ||
			(c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAProofCountsOnceAndDeclaredDecisionsAreCounted(t *testing.T) {
	t.Parallel()
	k, keys := signer(t, "")
	d := decided(t, k, keys, approval.Decision{Kind: policy.Approve})
	declared := approval.Decision{Kind: policy.Approve, CallID: "1.3", DecidedBy: "bob"}
	late := approval.Decision{Kind: policy.Reject, CallID: "1.4", DecidedBy: approval.DecidedByTimeout,
		Deciders: d.Deciders}
	pause := approval.Decision{Kind: approval.SteerPause, DecidedBy: "bob"}
	a := proofs.New(keys)
	problems := a.CheckDecisionsOfIdea("refunds", logOf(d, declared, late, pause, d))
	if len(problems) != 1 || !strings.Contains(problems[0], "for another decision already") ||
		a.Counts != (proofs.Counts{Declared: 1, Signed: 2, Proven: 1}) {
		t.Errorf("%v, %+v", problems, a.Counts)
	}
}

func TestAForkCarriesProofsOfWhereItComesFrom(t *testing.T) {
	t.Parallel()
	k, keys := signer(t, "")
	d := decided(t, k, keys, approval.Decision{Kind: policy.Approve})
	idea := func(d approval.Decision, by string) map[string]any {
		return policy.WithDecisionsBeforeFork(
			map[string]any{"context": []any{map[string]any{"type": "plan", "record": map[string]any{
				"1.2": map[string]any{
					"decided": []any{jsonval.ToJSONValue(turn.InstanceDecision{Token: "⑬", Decision: d})}},
			}}}}, []policy.PriorDecision{{CallID: "1.2@⑬", DecidedBy: by, Proof: d.Proof}, {CallID: "1.1", DecidedBy: "eve"}})
	}
	a := proofs.New(keys)
	if problems := a.CheckInheritedProofs(idea(d, "ann")); len(problems) > 0 ||
		a.Counts != (proofs.Counts{Inherited: 2}) {
		t.Errorf("%v, %+v", problems, a.Counts)
	}
	moved := d
	moved.CallID = "1.9@⑬"
	if problems := proofs.New(nil).CheckInheritedProofs(idea(moved, "bob")); len(problems) != 2 {
		t.Errorf("%v", problems)
	}
}

// One proof of a standing order stands behind every Call that was approved under it, as many as it says.
func TestApprovalsUnderASignedOrderAreProvenByTheOrder(t *testing.T) {
	t.Parallel()
	k, keys := signer(t, "")
	o := approval.StandingOrder{ID: "small", Tool: "pay", MaxCalls: 2, Until: at.Add(time.Hour), Reason: "routine",
		ParamsCondition: map[string]any{"properties": map[string]any{"cents": map[string]any{"maximum": json.Number("50")}}}}
	want := o.DecisionToProve("refunds")
	jws, err := k.Sign(proof.Claims{IssuedAt: at.Unix(), ID: "1", ProcessID: want.ProcessID, CallID: o.ID,
		ApprovalDigest: want.ApprovalDigest, DecisionKind: want.Kind, DetailsDigest: want.DetailsDigest})
	if err != nil {
		t.Fatal(err)
	}
	o.Proof = jws
	given := approval.Decision{Kind: approval.SteerGiveStandingOrder, DecidedBy: "ann", Groups: []string{"finance"},
		Reason: o.Reason, Proof: jws, DecidedAt: at, Order: &o}
	under := func(call, cents string, when time.Duration) approval.Decision {
		return approval.Decision{Kind: policy.Approve, CallID: call, ApprovalDigest: call, DecidedBy: "ann",
			Groups: []string{"finance"}, Reason: o.Reason, Proof: jws,
			Signature: &proof.SignatureInfo{KeyThumbprint: k.Thumbprint, Issuer: "ann", ID: "1"},
			DecidedAt: at.Add(when), Tool: "pay",
			StandingOrderID: o.ID,
			ShownParams:     map[string]any{"cents": json.Number(cents)}}
	}
	a, b, c := under("1.1@①", "10", 1), under("1.1@②", "50", 2), under("1.1@③", "20", 3)
	other := given
	changed := o
	changed.MaxCalls = 3
	other.Order = &changed
	for name, x := range map[string]struct {
		log  any
		want string
	}{
		"two":                 {logOf(given, a, b), ""},
		"in a part's chain":   {logOf(a, b, c), ""},
		"one more":            {logOf(given, a, b, c), "gives leave for 2 Calls"},
		"the same Call twice": {logOf(given, a, a), "for another decision already"},
		"more than it says":   {logOf(given, under("1.1@①", "51", 1)), "the decision on 1.1@①"},
		"too late":            {logOf(given, under("1.1@①", "10", time.Hour)), "it held until"},
		"another order's": {
			logOf(given, func() approval.Decision {
				d := under("1.1@①", "10",
					1)
				d.StandingOrderID = "large"
				return d
			}()),
			"for Call small, not for large"},
		"an order was changed": {logOf(other, a), "another digest"},
	} {
		audit := proofs.New(keys)
		if got := strings.Join(audit.CheckDecisionsOfIdea("refunds", x.log), "\n"); !strings.Contains(got, x.want) ||
			(x.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// A decision in another's place stands on the record of a deputy for that time, which is signed where decisions are.
func TestADecisionInPlaceOfAnotherNeedsTheRecordOfADeputy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(o *approval.StandingOrder, d *approval.Decision)
		why    string
	}{
		"as it was": {func(*approval.StandingOrder, *approval.Decision) {}, ""},
		"another deputy": {func(o *approval.StandingOrder, _ *approval.Decision) { o.DeputyName = "eve" },
			"ann had not named bob as deputy for that time"},
		"of another": {func(_ *approval.StandingOrder, d *approval.Decision) { d.OnBehalfOf.Name = "cid" },
			"cid had not named bob"},
		"another group": {func(_ *approval.StandingOrder, d *approval.Decision) { d.OnBehalfOf.Groups = nil },
			"had not named"},
		"before": {func(o *approval.StandingOrder, _ *approval.Decision) { o.From = at.Add(1) },
			"had not named"},
		"at the end": {func(o *approval.StandingOrder, _ *approval.Decision) { o.Until = at }, "had not named"},
		"without proof": {func(_ *approval.StandingOrder, d *approval.Decision) {
			d.Deciders = policy.DeciderRules{{RequiresSignature: true}}
		}, "had not named"},
	} {
		o := approval.StandingOrder{ID: "leave", DeputyName: "bob", Until: at.Add(time.Hour)}
		d := approval.Decision{Kind: policy.Approve, CallID: "1.1", DecidedBy: "bob", DecidedAt: at,
			OnBehalfOf: &policy.Person{Name: "ann", Groups: []string{"finance"}}}
		c.change(&o, &d)
		named := approval.Decision{Kind: approval.SteerDeputy, DecidedBy: "ann", Groups: []string{"finance"}, Order: &o}
		got := strings.Join(proofs.New(nil).CheckDecisionsOfIdea("refunds", logOf(named, d)), "")
		if !strings.Contains(got, c.why) || (c.why == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, c.why)
		}
		for process, known := range map[string]bool{"refunds/~part/2": false, "refunds/~part/2/~call/1.1": true} {
			got := strings.Join(proofs.New(nil).CheckDecisionsOfIdea(process, logOf(named, d)), "")
			if strings.Contains(got, "had not named") != (known && c.why != "") {
				t.Errorf("%s: in %s: %q", name, process, got)
			}
		}
	}
}

func TestASignedHandOverIsProvenAgain(t *testing.T) {
	t.Parallel()
	k, keys := signer(t, "")
	d := decided(t, k, keys, approval.Decision{Kind: approval.HandOver, RecipientName: "bob"})
	a := proofs.New(keys)
	if problems := a.CheckDecisionsOfIdea("refunds", logOf(d)); len(problems) > 0 || a.Proven != 1 {
		t.Errorf("%v, %+v", problems, a.Counts)
	}
	d.RecipientName = "eve"
	if problems := proofs.New(keys).CheckDecisionsOfIdea("refunds", logOf(d)); len(problems) != 1 {
		t.Errorf("whom it names was changed: %v", problems)
	}
}
