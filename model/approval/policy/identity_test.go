package policy_test

import (
	"encoding/json"
	"slices"
	"testing"

	"processidea/model/approval/policy"
)

const here, there = "https://id.example.com", "https://other.example.com"

func at(issuer, subject, name string) policy.Identity {
	return policy.Identity{Name: name, Account: policy.Account{Issuer: issuer, Subject: subject}}
}

func TestAPersonIsAnIssuersAndElseANames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b policy.Identity
		same bool
	}{
		"one account, two names":                {at(here, "1", "ann"), at(here, "1", "ann.lee"), true},
		"two issuers, one name":                 {at(here, "1", "ann"), at(there, "1", "ann"), false},
		"one issuer that tells clients apart":   {at(here, "1", "ann"), at(here, "9", "Ann"), true},
		"one issuer, two people":                {at(here, "1", "ann"), at(here, "2", "bob"), false},
		"a name alone, and an account of it":    {policy.Identity{Name: "ann"}, at(here, "1", "ANN"), true},
		"names alone":                           {policy.Identity{Name: "ann"}, policy.Identity{Name: "bob"}, false},
		"a subject without an issuer says less": {at("", "1", "ann"), at("", "1", "bob"), false},
	} {
		if c.a.Is(c.b) != c.same || c.b.Is(c.a) != c.same {
			t.Errorf("%s: want %t", name, c.same)
		}
	}
}

func TestAnIdentityWithoutAnAccountIsWrittenAsItsName(t *testing.T) {
	t.Parallel()
	list := []policy.Identity{{Name: "sam"}, at(here, "1", "ann"), {}}
	data, err := json.Marshal(list)
	if want := `["sam",{"name":"ann","iss":"https://id.example.com","sub":"1"},""]`; err != nil ||
		string(data) != want {
		t.Fatalf("%s, %v; want %s", data, err, want)
	}
	var back []policy.Identity
	if err := json.Unmarshal(data, &back); err != nil || !slices.Equal(back, list) {
		t.Errorf("%v, %v", back, err)
	}
	if err := json.Unmarshal([]byte("[3]"), &back); err == nil {
		t.Errorf("3 is somebody: %v", back)
	}
}

// A caller who writes their bare name into the meta does not keep their account out of it.
func TestWhoStartedAProcessIsKnownByAccountToo(t *testing.T) {
	t.Parallel()
	idea := policy.WithStarters(map[string]any{"meta": map[string]any{"startedBy": []any{"ann"}}},
		[]policy.Identity{at(here, "1", "ann")})
	idea = policy.WithStarters(idea, []policy.Identity{at(here, "1", "ann")})
	idea = policy.WithCauser(policy.WithCauser(idea, at(here, "2", "bob"), "①"), at(here, "2", "bob"), "①")
	if got, want := policy.ReadStarters(idea),
		[]policy.Identity{{Name: "ann"}, at(here, "1", "ann")}; !slices.Equal(got, want) {
		t.Errorf("started by %v", got)
	}
	if got := policy.ReadCausers(idea, "①"); !slices.Equal(got, []policy.Identity{at(here, "2", "bob")}) {
		t.Errorf("caused by %v", got)
	}
	idea = policy.WithDecisionsBeforeFork(idea,
		[]policy.PriorDecision{{CallID: "1.1", DecidedBy: "eve", Account: at(here, "3", "").Account}})
	if got := policy.ReadDecisionsBeforeFork(idea); len(got) != 1 || got[0].Account != at(here, "3", "").Account {
		t.Errorf("decided %v", got)
	}
	rules, causers := policy.DeciderRules{{ExcludesStarter: true}}, policy.ReadCausers(idea, "①")
	starters := policy.ReadStarters(policy.WithStarters(map[string]any{}, []policy.Identity{at(here, "1", "ann")}))
	for _, who := range []policy.Identity{at(here, "1", "ann.lee"), at(here, "2", "robert"), {Name: "ann"}} {
		if rules.DenialReason(policy.Person{Name: who.Name, Account: who.Account}, starters, causers...) == "" {
			t.Errorf("%v decides", who)
		}
	}
	if why := rules.DenialReason(policy.Person{Name: "ann", Account: at(there, "1", "").Account}, starters,
		causers...); why != "" {
		t.Errorf("ann of another issuer: %s", why)
	}
}
