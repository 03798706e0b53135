package policy_test

import (
	"slices"
	"testing"

	"processidea/model/approval/policy"
)

func TestWhoCausedWhatIsAddedToTheIdeaAndTakenFromNobody(t *testing.T) {
	t.Parallel()
	given := map[string]any{"meta": map[string]any{"path": "p", "startedBy": []any{"zed"},
		"causedBy": map[string]any{"①": []any{"eve"}}}}
	idea := policy.WithStarters(given, policy.IdentitiesNamed("ann", "ZED"))
	idea = policy.WithCauser(idea, policy.Identity{Name: "bob"}, "②", "②", "")
	idea = policy.WithCauser(policy.WithCauser(idea, policy.Identity{Name: "BOB"}, "②"), policy.Identity{}, "③")
	if got := policy.ReadStarters(idea); !slices.Equal(got, policy.IdentitiesNamed("zed", "ann")) {
		t.Errorf("started by %v", got)
	}
	for token, want := range map[string][]string{"": {"bob"}, "①": {"bob", "eve"}, "②": {"bob", "bob"},
		"③": {"bob", ""}, "④": {"bob"}} {
		if got := policy.ReadCausers(idea, token); !slices.Equal(got, policy.IdentitiesNamed(want...)) {
			t.Errorf("%s is caused by %v, want %q", token, got, want)
		}
	}
	if got := policy.ReadCausers(given, "②"); len(got) != 0 {
		t.Errorf("what was given has changed: %v", got)
	}
}

func TestWhoCausedACallDecidesOnItNoMoreThanWhoStartedTheProcess(t *testing.T) {
	t.Parallel()
	starters, causers := policy.IdentitiesNamed("sam"), policy.IdentitiesNamed("ann", "s-7")
	rules := policy.DeciderRules{{ExcludesStarter: true}}
	for _, p := range []policy.Person{{Name: "sam"}, {Name: "ANN"}, {Name: "x", AlternateName: "Ann"}, {Name: "s-7"},
		{Name: "x", AlternateName: "sam"}} {
		if rules.DenialReason(p, starters, causers...) == "" {
			t.Errorf("%+v decides", p)
		}
		if why := (policy.DeciderRules{{}}).DenialReason(p, starters, causers...); why != "" {
			t.Errorf("%+v: %s", p, why)
		}
	}
	bob := policy.Person{Name: "bob"}
	if why := rules.DenialReason(bob, starters, causers...); why != "" {
		t.Error(why)
	}
	for name, list := range map[string][2][]policy.Identity{
		"nobody started it": {nil, causers}, "a starter without a name": {policy.IdentitiesNamed("sam", ""), nil},
		"a causer without a name": {starters, policy.IdentitiesNamed("ann", "")},
	} {
		if rules.DenialReason(bob, list[0], list[1]...) == "" {
			t.Errorf("%s: it may have been bob, who decides", name)
		}
	}
}
