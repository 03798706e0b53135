package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/norm"
)

// This file decides when two names are the same person, and which names are valid. Every name that comes in goes
// through it.

// MaxNameLength is how many characters a name has at most.
const MaxNameLength = 200

// normalizeName returns the form in which names are compared. Case, width, the composition of accents, and white space
// around and within do not distinguish people: RFC 8266, with all cases folded.
func normalizeName(name string) string {
	if isASCII(name) {
		return strings.ToLower(strings.Join(strings.Fields(name), " "))
	}
	key, err := precis.Nickname.CompareKey(name)
	if err != nil { // accepted before names were checked, or empty
		key = strings.Join(strings.Fields(norm.NFKC.String(name)), " ")
	}
	return norm.NFKC.String(cases.Fold().String(key))
}

// isASCII reports whether a name is ASCII only. Nearly all are, and they are compared often.
func isASCII(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII })
}

// SameName reports whether two names are one person's, or one group's.
func SameName(a, b string) bool { return normalizeName(a) == normalizeName(b) }

// ComparableForm returns a word in the form in which names are compared, without characters that nobody sees. Words
// that people cannot tell apart have the same form.
func ComparableForm(word string) string {
	return normalizeName(strings.Map(func(r rune) rune {
		if unicode.In(r, invisibleRanges...) || r == brailleBlank {
			return -1
		}
		return r
	}, word))
}

func containsName(list []string, name string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return SameName(other, name) })
}

// invisibleRanges are control and format characters, characters without a meaning of their own, line ends, and
// characters that are shown as nothing.
var invisibleRanges = []*unicode.RangeTable{unicode.C, unicode.Zl, unicode.Zp,
	unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector}

const brailleBlank = '\u2800' // a symbol that is shown as a space

// CheckGroupName returns why a text cannot be the name of a group: it is empty, too long, or has a character that
// nobody sees.
func CheckGroupName(name string) error {
	switch {
	case normalizeName(name) == "":
		return errors.New("a name is not empty")
	case len([]rune(name)) > MaxNameLength:
		return fmt.Errorf("a name has at most %d characters", MaxNameLength)
	}
	for _, r := range name {
		if unicode.In(r, invisibleRanges...) || r == unicode.ReplacementChar || r == brailleBlank {
			return fmt.Errorf("%+q has an invisible character (%U): a name has letters, digits, signs and spaces",
				name, r)
		}
	}
	return nil
}

// reservedNames are the names that records have in place of a person's: for the deadline, the process itself, and a
// simulation. A decision under such a name would look to reports and audits as if nobody had decided.
var reservedNames = []string{"timeout", "process", "simulated"}

// CheckPersonName returns why a name cannot be a person's: as CheckGroupName, or it is one of reservedNames, or one of
// its words mixes letters of several scripts that look alike, such as a Cyrillic a among Latin letters. A word ends at
// white space and at the @ of an address.
func CheckPersonName(name string) error {
	err := CheckGroupName(name)
	if err == nil && containsName(reservedNames, name) {
		err = fmt.Errorf("%q is a reserved name, not a person's", name)
	}
	if err != nil || isASCII(name) {
		return err
	}
	for _, word := range strings.FieldsFunc(norm.NFKC.String(name),
		func(r rune) bool { return unicode.IsSpace(r) || r == '@' }) {
		if a, b := findMixedScripts(word); b != "" {
			return fmt.Errorf(
				"%+q mixes %s and %s letters in one word: they look alike, so it is unclear who is meant", name, a,
				b)
		}
	}
	return nil
}

// compatibleScripts are scripts that languages mix within a word: what UTS 39 calls highly restrictive.
var compatibleScripts = [][]string{{"Latin", "Han", "Hiragana", "Katakana"}, {"Latin", "Han", "Bopomofo"},
	{"Latin", "Han", "Hangul"}}

// findMixedScripts returns two scripts whose letters no language mixes; both are "" if the word has no such mix.
func findMixedScripts(word string) (a, b string) {
	var scripts []string
	for _, r := range word {
		if s := scriptOf(r); s != "" && !slices.Contains(scripts, s) {
			scripts = append(scripts, s)
		}
	}
	allIn := func(set []string) bool {
		return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(set, s) })
	}
	if len(scripts) < 2 || slices.ContainsFunc(compatibleScripts, allIn) {
		return "", ""
	}
	slices.Sort(scripts)
	return scripts[0], scripts[1]
}

// scriptOf returns the script of a letter; "" for letters of all scripts, such as digits.
func scriptOf(r rune) string {
	if unicode.In(r, unicode.Common, unicode.Inherited) {
		return ""
	}
	//workflowcheck:ignore -- a letter is of one script
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return ""
}
