package policy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// DeciderRule says who may decide. The zero Rule lets anybody who gives a name decide.
type DeciderRule struct {
	// Groups and People name who may decide: people of one of the groups, and these people. Both empty: anybody.
	Groups []string `json:"groups,omitempty"`
	People []string `json:"people,omitempty"`
	// RequiredApprovalCount is how many people must approve, each once; 0 is 1.
	RequiredApprovalCount int `json:"count,omitempty"`
	// ExcludesStarter excludes the person who started the process, and anybody who caused the Call: added or revised
	// its instance, or changed it.
	ExcludesStarter bool `json:"notStarter,omitempty"`
	// CallsWithExcludedDeciders excludes everybody who decided on one of these Calls of the same instance. An entry is
	// the id of a Call without an instance, or the name of a Tool, for all its Calls.
	CallsWithExcludedDeciders []string `json:"notSameAs,omitempty"`
	// RequiresSignature requires a proof of who decides (`proof` of a policy). It is no key of `by`.
	RequiresSignature bool `json:"signed,omitempty"`
}

const (
	maxRequiredApprovals = 100
	maxNameCount         = 1000 // people or groups of one Rule
	// unreachableApprovalCount is the Count of a Rule that cannot be read: it must let nobody through.
	unreachableApprovalCount = math.MaxInt32
)

// ReadDeciderRule reads a Rule of an Idea file; nil if v is nil.
func ReadDeciderRule(v any, path string, ps *diag.Problems) *DeciderRule {
	if v == nil {
		return nil
	}
	m, ok := v.(jsonval.Object)
	if !ok {
		ps.Add(path, "want an object, not %s", jsonval.TypeOf(v))
		return nil
	}
	r := &DeciderRule{}
	for k, v := range jsonval.Sorted(m) {
		if err := r.readKey(k, v); err != nil {
			ps.AddAtKey(path, k, "%s", err)
			r.RequiredApprovalCount = unreachableApprovalCount
		}
	}
	switch {
	case len(m) == 0:
		ps.Add(path, "it is empty; by has count, groups, notSameAs, notStarter and people")
	case len(r.Groups) == 0 && len(r.People) > 0 && r.RequiredApprovalCount > len(r.People) &&
		r.RequiredApprovalCount != unreachableApprovalCount:
		ps.Add(path+".count", "%d people must approve, but only %d may", r.RequiredApprovalCount, len(r.People))
	}
	return r
}

func (r *DeciderRule) readKey(key string, v any) (err error) {
	switch key {
	case "groups":
		r.Groups, err = readNames(v, CheckGroupName)
	case "people":
		r.People, err = readNames(v, CheckPersonName)
	case "notSameAs":
		r.CallsWithExcludedDeciders, err = readNames(v, CheckGroupName)
	case "count":
		var n int
		if n, err = jsonval.ReadCount(v, maxRequiredApprovals); err != nil {
			return fmt.Errorf("how many people must approve: %w", err)
		}
		r.RequiredApprovalCount = max(r.RequiredApprovalCount, n)
	case "notStarter":
		var ok bool
		if r.ExcludesStarter, ok = v.(bool); !ok {
			return fmt.Errorf("want true or false, not %s", jsonval.TypeOf(v))
		}
	default:
		return fmt.Errorf("unknown key %q; by has count, groups, notSameAs, notStarter and people%s",
			jsonval.ClipForError(key),
			diag.DidYouMean(key, []string{"count", "groups", "notSameAs", "notStarter", "people"}))
	}
	return err
}

// readNames reads a list of distinct names: two spellings of one person's name are a duplicate.
func readNames(v any, check func(string) error) ([]string, error) {
	list, ok := jsonval.AsStringList(v)
	if !ok || len(list) == 0 || len(list) > maxNameCount {
		return nil, fmt.Errorf("want a list of 1 to %d names", maxNameCount)
	}
	isListed := map[string]bool{}
	for _, name := range list {
		if err := check(name); err != nil {
			return nil, err
		}
		key := normalizeName(name)
		if isListed[key] {
			return nil, fmt.Errorf("%q is listed twice", name)
		}
		isListed[key] = true
	}
	return list, nil
}

// ReadProofRequirement reads `proof` of a policy, "declared" or "signed", into its Rule. It makes a Rule if there is
// none and a signed decision is required.
func ReadProofRequirement(v any, r *DeciderRule) (*DeciderRule, error) {
	switch v {
	case "declared":
		return r, nil
	case "signed":
		if r == nil {
			r = &DeciderRule{}
		}
		r.RequiresSignature = true
		return r, nil
	}
	return &DeciderRule{RequiresSignature: true, RequiredApprovalCount: unreachableApprovalCount},
		errors.New("want declared or signed")
}

// Person is who decides: the proven person, or else the claimed one.
type Person struct {
	Name   string   `json:"name,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// AlternateName is another name of the same person, under which they may have started the process; empty: there is
	// none.
	AlternateName string `json:"alsoNamed,omitempty"`
	// Account is the person's account; zero: unknown.
	Account
	// HasVerifiedProof is whether the decision has a verified proof.
	HasVerifiedProof bool `json:"signed,omitempty"`
	// DeputyIdentities has the names of the deputy who decides in the person's place; nil: there is no deputy.
	DeputyIdentities []Identity `json:"-"`
}

// denialReason says why a person may not decide, or "" if they may. starters are the people who started the process,
// causers those who caused the Call in another way.
func (r DeciderRule) denialReason(p Person, starters, causers []Identity) string {
	isUnrestricted := len(r.Groups) == 0 && len(r.People) == 0
	isInGroup := slices.ContainsFunc(p.Groups, func(g string) bool { return containsName(r.Groups, g) })
	switch {
	case !isUnrestricted && !isInGroup && !containsName(r.People, p.Name):
		reason := fmt.Sprintf("%s may not decide on it, only %s may", p.Name, r.describeDeciders())
		if len(r.Groups) > 0 && len(p.Groups) == 0 {
			reason += "; the decision names no group"
		}
		return reason
	case r.ExcludesStarter && (len(starters) == 0 || containsUnnamed(starters)):
		return "the person who started the process may not decide on it, but nobody knows who that was"
	case r.ExcludesStarter && p.matchingName(starters) != "":
		return p.matchingName(starters) + " started the process, and may not decide on it"
	case r.ExcludesStarter && containsUnnamed(causers):
		return "the person who added or revised the instance may not decide on it, but nobody knows who that was"
	case r.ExcludesStarter && p.matchingName(causers) != "":
		return p.matchingName(causers) +
			" had a hand in it (added or revised the instance, or changed the Call), and may not decide on it"
	}
	return ""
}

// matchingName is the name under which a list has the person, or their deputy; "": it has neither.
func (p Person) matchingName(list []Identity) string {
	for _, identity := range p.Identities() {
		if containsPerson(list, identity) {
			return identity.Name
		}
	}
	return ""
}

// Identities lists the names of the person and of their deputy. All rules treat these as one person.
func (p Person) Identities() []Identity {
	list := []Identity{{p.Name, p.Account}}
	if p.AlternateName != "" {
		list = append(list, Identity{p.AlternateName, p.Account})
	}
	return append(list, p.DeputyIdentities...)
}

// WithAddedDeciders returns a Rule under which others may decide too: the Groups and People of another. If anybody may
// decide, the Rule stays as it is.
func (r DeciderRule) WithAddedDeciders(addedDeciders DeciderRule) DeciderRule {
	if len(r.Groups)+len(r.People) == 0 {
		return r
	}
	r.Groups, r.People = addNames(r.Groups, addedDeciders.Groups), addNames(r.People, addedDeciders.People)
	return r
}

func addNames(list, added []string) []string {
	list = slices.Clone(list)
	for _, name := range added {
		if !containsName(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// describeDeciders names the people in words.
func (r DeciderRule) describeDeciders() string {
	var parts []string
	if len(r.People) > 0 {
		parts = append(parts, diag.SummarizeNames(r.People))
	}
	if len(r.Groups) > 0 {
		parts = append(parts, "people of "+diag.SummarizeNames(r.Groups))
	}
	if len(parts) == 0 {
		return "anybody"
	}
	return strings.Join(parts, " and ")
}

// DeciderRules is a list of Rules that must all hold.
type DeciderRules []DeciderRule

// RequiredApprovals is how many people must approve.
func (rules DeciderRules) RequiredApprovals() int {
	n := 1
	for _, r := range rules {
		n = max(n, r.RequiredApprovalCount)
	}
	return n
}

// DenialReason says why a person may not decide, by the first Rule that forbids it; "" if they may. starters are the
// people who started the process, causers those who caused the Call in another way. CallsWithExcludedDeciders needs the
// decisions on other Calls: see CallsWithExcludedDeciders.
func (rules DeciderRules) DenialReason(p Person, starters []Identity, causers ...Identity) string {
	switch {
	case !rules.RequiresSignature() || p.HasVerifiedProof:
	case p.DeputyIdentities != nil:
		return "it needs a signed decision, of a deputy who was named with a proof"
	default:
		return "it needs a signed decision, but this one has no proof"
	}
	for _, r := range rules {
		if reason := r.denialReason(p, starters, causers); reason != "" {
			return reason
		}
	}
	return ""
}

// ExcludesStarter reports whether the person who started the process may not decide.
func (rules DeciderRules) ExcludesStarter() bool {
	return slices.ContainsFunc(rules, func(r DeciderRule) bool { return r.ExcludesStarter })
}

// RequiresSignature reports whether a decision must have a proof.
func (rules DeciderRules) RequiresSignature() bool {
	return slices.ContainsFunc(rules, func(r DeciderRule) bool { return r.RequiresSignature })
}

// RequiresGroups reports whether a decision must name the person's groups.
func (rules DeciderRules) RequiresGroups() bool { return len(rules.Groups()) > 0 }

// Groups lists the groups of all Rules.
func (rules DeciderRules) Groups() (list []string) {
	for _, r := range rules {
		list = append(list, r.Groups...)
	}
	return list
}

// CallsWithExcludedDeciders lists the CallsWithExcludedDeciders of all Rules.
func (rules DeciderRules) CallsWithExcludedDeciders() (list []string) {
	for _, r := range rules {
		list = append(list, r.CallsWithExcludedDeciders...)
	}
	return list
}

// String describes who decides: "2 people of finance; not who started the process".
func (rules DeciderRules) String() string {
	var parts []string
	for _, r := range rules {
		if len(r.Groups)+len(r.People) > 0 {
			parts = append(parts, r.describeDeciders())
		}
	}
	text := strings.Join(parts, ", who are also ")
	switch n := rules.RequiredApprovals(); {
	case n > 1 && text == "":
		text = fmt.Sprintf("%d people", n)
	case n > 1:
		text = fmt.Sprintf("%d of: %s", n, text)
	}
	if rules.RequiresSignature() {
		text = cmp.Or(text, "anybody") + ", signed"
	}
	var exclusions []string
	if rules.ExcludesStarter() {
		exclusions = append(exclusions, "who started the process")
	}
	if list := rules.CallsWithExcludedDeciders(); len(list) > 0 {
		exclusions = append(exclusions, "who decided on "+diag.SummarizeNames(list))
	}
	text = cmp.Or(text, "anybody")
	if len(exclusions) > 0 {
		text += "; not " + strings.Join(exclusions, " nor ")
	}
	return text
}
