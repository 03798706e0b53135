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

// Rule says who may decide. The zero Rule lets anybody who gives a name decide.
type Rule struct {
	// Groups and People name who may decide: people of one of the groups, and these people. Both empty: anybody.
	Groups []string `json:"groups,omitempty"`
	People []string `json:"people,omitempty"`
	// Count is how many people must approve, each once; 0 is 1.
	Count int `json:"count,omitempty"`
	// NotStarter excludes the person who started the process, and anybody who caused the Call: added or revised its
	// instance, or changed it.
	NotStarter bool `json:"notStarter,omitempty"`
	// NotSameAs excludes everybody who decided on one of these Calls of the same instance. An entry is the id of a Call
	// without an instance, or the name of a Tool, for all its Calls.
	NotSameAs []string `json:"notSameAs,omitempty"`
	// Signed requires a proof of who decides (`proof` of a policy). It is no key of `by`.
	Signed bool `json:"signed,omitempty"`
}

const (
	maxCount = 100
	maxNames = 1000 // people or groups of one Rule
	// invalidRuleCount is the Count of a Rule that cannot be read: it must let nobody through.
	invalidRuleCount = math.MaxInt32
)

// ReadRule reads a Rule of an Idea file; nil if v is nil.
func ReadRule(v any, path string, ps *diag.Problems) *Rule {
	if v == nil {
		return nil
	}
	m, ok := v.(jsonval.Object)
	if !ok {
		ps.Add(path, "want an object, not %s", jsonval.TypeOf(v))
		return nil
	}
	r := &Rule{}
	for k, v := range jsonval.Sorted(m) {
		if err := r.readKey(k, v); err != nil {
			ps.AddAt(path, k, "%s", err)
			r.Count = invalidRuleCount
		}
	}
	switch {
	case len(m) == 0:
		ps.Add(path, "it is empty; by has count, groups, notSameAs, notStarter and people")
	case len(r.Groups) == 0 && len(r.People) > 0 && r.Count > len(r.People) && r.Count != invalidRuleCount:
		ps.Add(path+".count", "%d people must approve, but only %d may", r.Count, len(r.People))
	}
	return r
}

func (r *Rule) readKey(key string, v any) (err error) {
	switch key {
	case "groups":
		r.Groups, err = readNames(v, CheckGroup)
	case "people":
		r.People, err = readNames(v, CheckName)
	case "notSameAs":
		r.NotSameAs, err = readNames(v, CheckGroup)
	case "count":
		var n int
		if n, err = jsonval.ReadCount(v, maxCount); err != nil {
			return fmt.Errorf("how many people must approve: %w", err)
		}
		r.Count = max(r.Count, n)
	case "notStarter":
		var ok bool
		if r.NotStarter, ok = v.(bool); !ok {
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
	if !ok || len(list) == 0 || len(list) > maxNames {
		return nil, fmt.Errorf("want a list of 1 to %d names", maxNames)
	}
	seen := map[string]bool{}
	for _, name := range list {
		if err := check(name); err != nil {
			return nil, err
		}
		key := normalizeName(name)
		if seen[key] {
			return nil, fmt.Errorf("%q is listed twice", name)
		}
		seen[key] = true
	}
	return list, nil
}

// ReadProof reads `proof` of a policy, "declared" or "signed", into its Rule. It makes a Rule if there is none and a
// signed decision is required.
func ReadProof(v any, r *Rule) (*Rule, error) {
	switch v {
	case "declared":
		return r, nil
	case "signed":
		if r == nil {
			r = &Rule{}
		}
		r.Signed = true
		return r, nil
	}
	return &Rule{Signed: true, Count: invalidRuleCount}, errors.New("want declared or signed")
}

// Person is who decides: the proven person, or else the claimed one.
type Person struct {
	Name   string   `json:"name,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// AlsoNamed is another name of the same person, under which they may have started the process; empty: there is
	// none.
	AlsoNamed string `json:"alsoNamed,omitempty"`
	// Account is the person's account; zero: unknown.
	Account
	// Signed is whether the decision has a verified proof.
	Signed bool `json:"signed,omitempty"`
	// Deputy has the names of the deputy who decides in the person's place; nil: there is no deputy.
	Deputy []Identity `json:"-"`
}

// whyNot says why a person may not decide, or "" if they may. starters are the people who started the process, causers
// those who caused the Call in another way.
func (r Rule) whyNot(p Person, starters, causers []Identity) string {
	anybody := len(r.Groups) == 0 && len(r.People) == 0
	inGroup := slices.ContainsFunc(p.Groups, func(g string) bool { return containsName(r.Groups, g) })
	switch {
	case !anybody && !inGroup && !containsName(r.People, p.Name):
		why := fmt.Sprintf("%s may not decide on it, only %s may", p.Name, r.describeDeciders())
		if len(r.Groups) > 0 && len(p.Groups) == 0 {
			why += "; the decision names no group"
		}
		return why
	case r.NotStarter && (len(starters) == 0 || containsUnknown(starters)):
		return "the person who started the process may not decide on it, but nobody knows who that was"
	case r.NotStarter && p.nameAmong(starters) != "":
		return p.nameAmong(starters) + " started the process, and may not decide on it"
	case r.NotStarter && containsUnknown(causers):
		return "the person who added or revised the instance may not decide on it, but nobody knows who that was"
	case r.NotStarter && p.nameAmong(causers) != "":
		return p.nameAmong(causers) +
			" had a hand in it (added or revised the instance, or changed the Call), and may not decide on it"
	}
	return ""
}

// nameAmong is the name under which a list has the person, or their deputy; "": it has neither.
func (p Person) nameAmong(list []Identity) string {
	for _, who := range p.Identities() {
		if containsPerson(list, who) {
			return who.Name
		}
	}
	return ""
}

// Identities lists the names of the person and of their deputy. All rules treat these as one person.
func (p Person) Identities() []Identity {
	list := []Identity{{p.Name, p.Account}}
	if p.AlsoNamed != "" {
		list = append(list, Identity{p.AlsoNamed, p.Account})
	}
	return append(list, p.Deputy...)
}

// Widened returns a Rule under which others may decide too: the Groups and People of another. If anybody may decide,
// the Rule stays as it is.
func (r Rule) Widened(others Rule) Rule {
	if len(r.Groups)+len(r.People) == 0 {
		return r
	}
	r.Groups, r.People = withNames(r.Groups, others.Groups), withNames(r.People, others.People)
	return r
}

func withNames(list, more []string) []string {
	list = slices.Clone(list)
	for _, name := range more {
		if !containsName(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// describeDeciders names the people in words.
func (r Rule) describeDeciders() string {
	var parts []string
	if len(r.People) > 0 {
		parts = append(parts, diag.FirstNamesAndCount(r.People))
	}
	if len(r.Groups) > 0 {
		parts = append(parts, "people of "+diag.FirstNamesAndCount(r.Groups))
	}
	if len(parts) == 0 {
		return "anybody"
	}
	return strings.Join(parts, " and ")
}

// Rules is a list of Rules that must all hold.
type Rules []Rule

// RequiredApprovals is how many people must approve.
func (rules Rules) RequiredApprovals() int {
	n := 1
	for _, r := range rules {
		n = max(n, r.Count)
	}
	return n
}

// DenialReason says why a person may not decide, by the first Rule that forbids it; "" if they may. starters are the
// people who started the process, causers those who caused the Call in another way. NotSameAs needs the decisions on
// other Calls: see ExcludedCallNames.
func (rules Rules) DenialReason(p Person, starters []Identity, causers ...Identity) string {
	switch {
	case !rules.Signed() || p.Signed:
	case p.Deputy != nil:
		return "it needs a signed decision, of a deputy who was named with a proof"
	default:
		return "it needs a signed decision, but this one has no proof"
	}
	for _, r := range rules {
		if why := r.whyNot(p, starters, causers); why != "" {
			return why
		}
	}
	return ""
}

// ExcludeStarter reports whether the person who started the process may not decide.
func (rules Rules) ExcludeStarter() bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.NotStarter })
}

// Signed reports whether a decision must have a proof.
func (rules Rules) Signed() bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.Signed })
}

// RequiresGroups reports whether a decision must name the person's groups.
func (rules Rules) RequiresGroups() bool { return len(rules.Groups()) > 0 }

// Groups lists the groups of all Rules.
func (rules Rules) Groups() (list []string) {
	for _, r := range rules {
		list = append(list, r.Groups...)
	}
	return list
}

// ExcludedCallNames lists the NotSameAs of all Rules.
func (rules Rules) ExcludedCallNames() (list []string) {
	for _, r := range rules {
		list = append(list, r.NotSameAs...)
	}
	return list
}

// String describes who decides: "2 people of finance; not who started the process".
func (rules Rules) String() string {
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
	if rules.Signed() {
		text = cmp.Or(text, "anybody") + ", signed"
	}
	var not []string
	if rules.ExcludeStarter() {
		not = append(not, "who started the process")
	}
	if list := rules.ExcludedCallNames(); len(list) > 0 {
		not = append(not, "who decided on "+diag.FirstNamesAndCount(list))
	}
	text = cmp.Or(text, "anybody")
	if len(not) > 0 {
		text += "; not " + strings.Join(not, " nor ")
	}
	return text
}
