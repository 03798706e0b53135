package policy_test

import (
	"strings"
	"testing"
	"unicode"

	"processidea/model/approval/policy"
)

func TestTheSpellingsOfAPersonAreOnePerson(t *testing.T) {
	t.Parallel()
	for name, spellings := range map[string][]string{
		"ann":      {"Ann", " ANN ", "\uff41\uff4e\uff4e", "ａｎｎ", "a\u006e\u006e"},
		"josé":     {"JOSÉ", "jose\u0301", "JOSE\u0301"},
		"straße":   {"STRASSE", "Straße"},
		"σίσυφος":  {"ΣΊΣΥΦΟΣ", "σίσυφοσ"},
		"ann lee":  {"Ann  Lee", "ann\u00a0lee", "ann\u3000lee"},
		"иван":     {"ИВАН"},
		"ﬁnn@x.de": {"finn@X.de"},
	} {
		for _, other := range spellings {
			if !policy.SameName(name, other) {
				t.Errorf("%q and %q are two people", name, other)
			}
			if err := policy.CheckPersonName(other); err != nil {
				t.Errorf("%q: %v", other, err)
			}
		}
	}
	for a, b := range map[string]string{"ann": "anne", "josé": "jose", "": "ann", "аnn": "ann"} {
		if policy.SameName(a, b) {
			t.Errorf("%q and %q are one person", a, b)
		}
	}
}

func TestANameHasNothingThatNobodySees(t *testing.T) {
	t.Parallel()
	unseen := []rune{0, '\t', '\n', 0x7f, 0x85, 0xa0 + 0xd /* soft hyphen */, 0x34f, 0x61c, 0x115f, 0x180e, 0x200b,
		0x200d, 0x200e, 0x202e, 0x2028, 0x2066, 0x2800,
		0x3164, 0xe000, 0xfe0f, 0xfeff, 0xfffd, 0xe0001}
	for r := range rune(unicode.MaxRune) { // all that Unicode calls control or format
		if unicode.In(r, unicode.Cc, unicode.Cf) {
			unseen = append(unseen, r)
		}
	}
	for _, r := range unseen {
		for _, name := range []string{"an" + string(r) + "n", "ann" + string(r), string(r) + "ann"} {
			if policy.CheckPersonName(name) == nil || policy.CheckGroupName(name) == nil {
				t.Errorf("%+q is a name", name)
			}
		}
	}
	for _, name := range []string{"", " ", "\u3000", strings.Repeat("a", 201), "\xff"} {
		if policy.CheckPersonName(name) == nil || policy.CheckGroupName(name) == nil {
			t.Errorf("%+q is a name", name)
		}
	}
}

func TestAWordOfANameIsOfScriptsThatAreWrittenTogether(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"аnn", "ann.оk@example.com", "а1nn", "Κate", "bоb@example.com", "ann@ехample.com"} {
		if err := policy.CheckPersonName(name); err == nil || !strings.Contains(err.Error(), "letters in one word") {
			t.Errorf("%+q: %v", name, err)
		}
		if err := policy.CheckGroupName(name); err != nil { // those are the issuer's
			t.Errorf("%+q: %v", name, err)
		}
	}
	for _, name := range []string{"анна@example.com", "Анна Lee", "田中さん", "田中カナ", "김ann", "O'Brien-Smith 3rd", "José",
		"محمد", "अनु"} {
		if err := policy.CheckPersonName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
