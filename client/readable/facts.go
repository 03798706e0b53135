package readable

import (
	"fmt"
	"iter"
	"net/url"
	"strings"
	"unicode/utf8"

	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// Fact is a named value, prepared for reading.
type Fact struct {
	Name        string
	Text        string
	IsNumber    bool
	IsBlock     bool   // the text has lines, or is long
	Origin      string // where the value comes from; empty if unknown, or if an enclosing Fact states it
	Facts       []Fact
	HiddenCount int // members or items that are not shown
	// Letter is the text with the parts from data marked; Href is set if the text is an address that a page may link
	// to.
	Letter   shown.TextSpans
	Href     string
	IsFolded bool // it has so many members that they are shown only on request
}

// Bounds of what a page shows.
const (
	MaxFacts          = 400
	MaxTextBytes      = 20_000 // bytes of one text
	maxTotalTextBytes = 300_000
	minBlockChars     = 120 // longer texts, in characters, get a block of their own
	minFoldedMembers  = 12  // members or items from which nested values are folded
	// MaxCellChars is the maximum length of a table cell in characters.
	MaxCellChars = 120
)

// FactBuilder turns values into Facts until its bounds are used up.
type FactBuilder struct {
	// the numbers of Facts, and of bytes of text, that remain
	FactsLeft, BytesLeft int
	OriginOf             func(path jsonval.Path, v any) string // where a value comes from; may be nil
	ShowsHidden          bool                                  // also shows what only operators look at
	MakesTitlesFromNames bool                                  // members that no schema describes get titles, too
	language             shown.Language
}

// NewFactBuilder returns a FactBuilder with the bounds of a page, for readers of a language.
func NewFactBuilder(l shown.Language) *FactBuilder {
	return &FactBuilder{FactsLeft: MaxFacts, BytesLeft: maxTotalTextBytes, language: l}
}

// Build returns the Fact of a value.
func (t *FactBuilder) Build(v any) Fact {
	return t.build("", nil, shown.Format{}, "", v)
}

// BuildAt is Build for a value at a path, shown as its schema says, without what only operators look at.
func (t *FactBuilder) BuildAt(path jsonval.Path, name string, format shown.Format, v any) Fact {
	return t.build(name, path, format, "", v)
}

func (t *FactBuilder) build(name string, path jsonval.Path, format shown.Format, enclosingOrigin string, v any) Fact {
	t.FactsLeft--
	f := Fact{Name: VisibleText(Clip(name, MaxCellChars))}
	if t.OriginOf != nil {
		if origin := t.OriginOf(path, v); origin != "" && origin != enclosingOrigin {
			f.Origin, enclosingOrigin = origin, origin
		}
	}
	object, isObject := v.(jsonval.Object)
	list, isList := v.([]any)
	visibleMemberCount := len(object) + len(list)
	for step, one := range members(format, v) {
		memberFormat := format.FormatAt(jsonval.Path{step})
		if memberFormat.Display == shown.Hidden && !t.ShowsHidden {
			visibleMemberCount--
			continue
		}
		if t.FactsLeft <= 0 {
			f.HiddenCount++
			continue
		}
		name := format.MemberTitle(step)
		if t.MakesTitlesFromNames {
			name = memberFormat.TitleOr(step)
		}
		if isList {
			name = fmt.Sprint(len(f.Facts) + 1)
		}
		f.Facts = append(f.Facts, t.build(name, path.WithStep(step), memberFormat, enclosingOrigin, one))
	}
	f.IsFolded = len(path) > 0 && visibleMemberCount >= minFoldedMembers
	switch {
	case !isObject && !isList:
		f.Text, f.IsNumber, f.Href = t.formatValue(format, v), IsNumber(v), LinkTarget(format.Display, v)
		f.IsBlock = strings.Contains(f.Text, "\n") || utf8.RuneCountInString(f.Text) > minBlockChars
	case visibleMemberCount == 0:
		f.Text = shown.Format{}.Text(jsonval.Object{}, t.language)
	}
	return f
}

// LinkTarget returns the address that a page may link to for a value that is shown as a link or a picture; "" for any
// other. The address is one of the web, is encrypted, and is what the reader reads: it hides no user name and no
// characters.
func LinkTarget(display shown.Display, v any) string {
	text, isText := v.(string)
	if !isText || display != shown.Link && display != shown.Image || VisibleText(text) != text {
		return ""
	}
	if u, err := url.Parse(text); err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil {
		return text
	}
	return ""
}

// members yields the members of a value: for an object, first those that its schema describes, in the schema's order.
func members(format shown.Format, v any) iter.Seq2[string, any] {
	object, isObject := v.(jsonval.Object)
	if !isObject || len(format.Order) == 0 {
		return jsonval.Members(v)
	}
	return func(yield func(string, any) bool) {
		for _, name := range format.OrderedMemberNames(object) {
			if !yield(name, object[name]) {
				return
			}
		}
	}
}

func (t *FactBuilder) formatValue(format shown.Format, v any) string {
	if format.Display != shown.Plain {
		v = format.Text(v, t.language)
	}
	text, isText := v.(string)
	if !isText || text == "" {
		return shown.Format{}.Text(v, t.language)
	}
	text = clipBytes(text, max(min(MaxTextBytes, t.BytesLeft), MaxCellChars))
	t.BytesLeft -= len(text)
	return VisibleText(text)
}
