package dataflow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/modeltest"
)

func handOver(i *dataflow.Instance, by, to string) error {
	return decide(i, approval.HandOver, fmt.Sprintf(`{"call": "1.1", "by": %q, "groups": ["finance"], %s}`, by, to))
}

// A Call is handed to nobody of whom it is known that they may not decide on it.
func TestACallIsHandedToWhoMayDecide(t *testing.T) {
	t.Parallel()
	const two = `{"people": ["ann", "bob"], "count": 2, "notStarter": true}`
	for name, c := range map[string]struct{ by, to, why string }{
		"who may":             {two, `"to": "bob"`, ""},
		"who is not named":    {two, `"to": "carl"`, "handed over to carl: carl may not decide on it, only ann, bob may"},
		"who has decided":     {`{"people": ["ann", "dan"], "count": 2}`, `"to": "dan"`, "dan has decided on it already"},
		"the starter":         {`{"notStarter": true}`, `"to": "sam"`, "sam started the process"},
		"who added":           {`{"notStarter": true}`, `"to": "cleo"`, "cleo had a hand in it"},
		"who decided another": {`{"notSameAs": ["prepare"]}`, `"to": "bob"`, "bob decided on 1.2"},
		"a deputy":            {`{"people": ["ann"]}`, `"to": "rick"`, ""},
		"anybody of a group":  {`{"groups": ["finance"]}`, `"to": "eve"`, ""},
		"who must sign":       {`{"groups": ["finance"]}, "proof": "declared"`, `"to": "eve"`, ""},
		"the group":           {`{"groups": ["Finance"]}`, `"toGroup": "finance"`, ""},
		"another group":       {`{"groups": ["finance"]}`, `"toGroup": "heads"`, "only people of finance may"},
		"a group of some":     {two, `"toGroup": "heads"`, ""},
	} {
		i := vault(t, c.by, "")
		i.SetCausers(policy.IdentitiesNamed("cleo"))
		deputyOf(t, i, "ann", "rick")
		if err := approve(i, "1.2", "bob"); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.by, "dan") {
			_ = approve(i, "1.1", "dan")
		}
		err := handOver(i, "ann", c.to)
		if got := modeltest.ErrorText(err); !strings.Contains(got, c.why) || (c.why == "") != (err == nil) {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
}

func TestACallIsHandedToAGroupHoweverItIsSpelled(t *testing.T) {
	t.Parallel()
	i := vault(t, `{"groups": ["Finance"]}`, "")
	if err := handOver(i, "ann", `"toGroup": "FINANCE"`); err != nil {
		t.Fatal(err)
	}
	if err := decide(i, policy.Approve, `{"call": "1.1", "by": "eve", "groups": ["finance"]}`); err != nil {
		t.Error(err)
	}
}

// Who got a Call decides once; who else must decide may again, also by an escalation since.
func TestAHandOverLeavesEnoughPeopleWhoMayDecide(t *testing.T) {
	t.Parallel()
	const later = `, "escalate": {"after": "48h", "by": {"people": ["head"]}}`
	for name, c := range map[string]struct {
		by, then string
		passed   time.Duration
		why      string
	}{
		"another, once they have decided": {`{"people": ["ann", "bob"], "count": 2}`, "ann", 0, ""},
		"before":                          {`{"people": ["ann", "bob"]}`, "ann", 0, "ann has handed it over to bob"},
		"who is added later":              {`{"people": ["ann", "bob"]}` + later, "head", 48 * time.Hour, ""},
		"others, later":                   {`{"people": ["ann", "bob"]}` + later, "ann", 48 * time.Hour, "handed it over to bob"},
	} {
		i := vault(t, c.by, "")
		if err := handOver(i, "ann", `"to": "bob"`); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.by, "count") {
			if err := approve(i, "1.1", "bob"); err != nil {
				t.Fatal(err)
			}
		}
		i = at(t, i, c.passed)
		if text := i.PendingApprovals()[0].DecidersInWords(); strings.HasPrefix(text, "bob, of:") ==
			strings.Contains(c.by, "count") {
			t.Errorf("%s: %s", name, text)
		}
		err := approve(i, "1.1", c.then)
		if got := modeltest.ErrorText(err); !strings.Contains(got, c.why) || (c.why == "") != (err == nil) {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
}

// A remark is on record with what was shown, once for those that were shown the same.
func TestARemarkIsOnRecordWithTheCallThatWasShown(t *testing.T) {
	t.Parallel()
	i := vault(t, `{"people": ["ann"]}`, "")
	deputyOf(t, i, "ann", "rick")
	say := func(want string) {
		t.Helper()
		if err := decide(i, approval.Comment, `{"call": "1.1", "by": "ann", "reason": "hm"}`); err != nil {
			t.Fatal(err)
		}
		i = carried(t, i)
		remarks := i.CallRecords()[0].Remarks
		shown := approval.LastShownParams(remarks)
		if got := fmt.Sprint(remarks[len(remarks)-1].ShownParams["cents"]); got != want ||
			fmt.Sprint(shown["cents"]) != fmt.Sprint(i.PendingApprovals()[0].Params["cents"]) {
			t.Errorf("%v, %v, want %s", remarks, shown, want)
		}
	}
	say("600")
	say("<nil>")
	if err := decide(i, policy.Amend, `{"call": "1.1", "by": "ann", "params": {"cents": 700}}`); err != nil {
		t.Fatal(err)
	}
	say("700")
}

// Whoever is asked again about a Call that a person changed reads who did, and why.
func TestACallThatWaitsAgainSaysWhoChangedIt(t *testing.T) {
	t.Parallel()
	i := vault(t, `{"people": ["ann", "bob"]}`, "")
	said := func() string { return strings.Join(i.PendingApprovals()[0].Explanation(), "; ") }
	if got := said(); got != "" {
		t.Errorf("nobody has changed it, and it says %q", got)
	}
	for _, c := range []struct{ kind, payload, want string }{
		{policy.Amend, `"by": "ann", "reason": "too much", "params": {"cents": 700}`, "ann has changed it: too much"},
		{policy.Replace, `"by": "bob", "with": {"_tool": "pay", "cents": 800}`, "bob has chosen this instead"},
	} {
		if err := decide(i, c.kind, `{"call": "1.1", `+c.payload+`}`); err != nil {
			t.Fatal(err)
		}
		i.Advance()
		if got := said(); got != c.want {
			t.Errorf("it says %q, want %q", got, c.want)
		}
	}
}

// Whoever may look may comment; that leaves room for who asks, and who hands over.
func TestCommentsLeaveRoomForOtherRemarks(t *testing.T) {
	t.Parallel()
	i := vault(t, `{"groups": ["finance"]}`, "")
	comments := 0
	for decide(i, approval.Comment, `{"call": "1.1", "by": "eve", "reason": "and so on"}`) == nil {
		if comments++; comments > 1000 {
			t.Fatal("comments have no end")
		}
	}
	if err := handOver(i, "ann", `"to": "bob"`); err != nil || comments < 10 {
		t.Errorf("after %d comments: %v", comments, err)
	}
}
