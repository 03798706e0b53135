package shown

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"processidea/model/ideafile"
	"processidea/model/ideafile/placeholder"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// Part is a piece of a sentence or a letter: of the file's words, or from data.
type Part struct {
	Text   string
	IsData bool
}

// Parts are pieces in their order.
type Parts []Part

func (p Parts) String() string {
	var b strings.Builder
	for _, one := range p {
		b.WriteString(one.Text)
	}
	return b.String()
}

// Field is a parameter of a Call, or a member of one, as people see it.
type Field struct {
	Name  string `json:"name" doc:"of the parameter; of a member of one, with what leads to it: customer.name"`
	Title string `json:"title"`
	Value any    `json:"value"`
	Shown string `json:"shown" doc:"the value, in the reader's language"`

	Format Format `json:"-"`
	Parts  Parts  `json:"-"` // of a letter: what came from data is marked
	Fixed  bool   `json:"-"` // its Tool's designer wired it
}

// Call is a Call in the words of the business.
type Call struct {
	// Sentence describes the Call.
	Sentence string `json:"sentence,omitempty" doc:"what the Call does, in the words of its Tool"`
	// InstanceName is the instance's name for people.
	InstanceName string `json:"instanceName,omitempty" doc:"what people call the instance"`
	// Fields are the parameters that people are shown, in the order of jsonschema.ShownOrder.
	Fields []Field `json:"fields,omitempty" doc:"the parameters as people read them, in the order in which the Tool's schema was written, else the required ones as it lists them, then the others by name; params has them as they are"`

	Parts     Parts  `json:"-"` // of Sentence
	ToolTitle string `json:"-"`
	// Hidden are the names of those parameters that only operators look at.
	Hidden []string `json:"-"`
	// Language is the language of the texts.
	Language Language `json:"-"`
}

// Field returns the field with a name; nil if there is none.
func (c Call) Field(name string) *Field {
	for n := range c.Fields {
		if c.Fields[n].Name == name {
			return &c.Fields[n]
		}
	}
	return nil
}

// Amount returns the first field that is money; nil if there is none.
func (c Call) Amount() *Field {
	for n := range c.Fields {
		if c.Fields[n].Format.Display == Money {
			return &c.Fields[n]
		}
	}
	return nil
}

// Case is the data of an instance: its input and its State.
type Case struct{ Input, State any }

// Words are the words of one Idea.
type Words struct {
	tools  map[string]*toolWords
	input  Format
	state  Format
	shared any // input of all instances
	name   template
	tokens map[string][]string // by name: the first two instances that have it
	names  map[string]string   // of the instances of the Idea, by token
	// amounts maps the token of an instance of the Idea to the first money in its data.
	amounts map[string]*Field
}

type toolWords struct {
	tool   *ideafile.Tool
	format Format
	title  template
}

// WordsOf reads the words of an Idea; nil, an Idea that is not known yet, has none.
func WordsOf(idea *ideafile.Idea) *Words {
	w := &Words{tools: map[string]*toolWords{}, tokens: map[string][]string{}, names: map[string]string{},
		amounts: map[string]*Field{}}
	if idea == nil {
		return w
	}
	view := ideafile.InstanceMessagesView(idea.Context, "")
	w.shared = view.PayloadByKind[ideafile.TypeInput]
	format := func(kind string) Format {
		schema := view.SchemaByKind[kind]
		for _, m := range idea.Context { // a sealed Idea has the State schema only in the States of instances
			if schema == nil && m.PayloadKind == kind {
				schema = m.PayloadSchema
			}
		}
		return FormatOf(schema, schema)
	}
	w.input, w.state = format(ideafile.TypeInput), format(ideafile.TypeState)
	for _, t := range idea.Tools {
		source := t.ParamsSchemaSource()
		w.tools[t.Name] = &toolWords{tool: t, format: FormatOf(source, source), title: templateOf(t.Title)}
	}
	w.name = templateOf(idea.Config.InstanceName)
	if w.name.parsed == nil && !w.input.hasMoney() && !w.state.hasMoney() {
		return w
	}
	for token, messages := range ideafile.GroupMessagesByInstance(idea.Context) {
		own := ideafile.InstanceMessagesView(messages, token).PayloadByKind
		amount := cmp.Or(w.input.amountIn(own[ideafile.TypeInput]), w.state.amountIn(own[ideafile.TypeState]))
		if amount != nil {
			w.amounts[token] = amount
		}
		name := w.plainName(token, Case{own[ideafile.TypeInput], own[ideafile.TypeState]}, English)
		w.names[token] = name
		if list := w.tokens[name]; token != "" && len(list) < 2 {
			w.tokens[name] = append(list, token)
		}
	}
	return w
}

// Name is the name of an instance for people. If other instances have the same name, its token is added.
func (w *Words) Name(token string, c Case, l Language) string {
	name := w.plainName(token, c, l)
	others := w.tokens[w.plainName(token, c, English)]
	if name != token && slices.ContainsFunc(others, func(other string) bool { return other != token }) {
		return name + " (" + token + ")"
	}
	return name
}

// NameOf is Name by the data that the Idea has of an instance. For an instance that the Idea does not know, it is the
// token.
func (w *Words) NameOf(token string) string {
	name, known := w.names[token]
	switch {
	case !known || name == token:
		return token
	case len(w.tokens[name]) > 1:
		return name + " (" + token + ")"
	}
	return name
}

// AmountOf returns the first money in an instance's input, or else in its State; empty if there is none.
func (w *Words) AmountOf(token string, l Language) string {
	if amount := w.amounts[token]; amount != nil {
		return amount.Format.Text(amount.Value, l)
	}
	return ""
}

func (w *Words) plainName(token string, c Case, l Language) string {
	parts, ok := w.name.fill(l, w.lookup(nil, nil, c))
	if name := parts.String(); ok && strings.TrimSpace(name) != "" {
		return name
	}
	return token
}

// Tool is the title of a Tool.
func (w *Words) Tool(name string) string {
	if t := w.tools[name]; t != nil {
		return t.format.TitleOr(name)
	}
	return titleFromName(name)
}

// Place is what people call a value of the input or of State: the titles that lead to it; "" of any other value.
func (w *Words) Place(kind string, path jsonval.Path) string {
	format, known := map[string]Format{ideafile.TypeInput: w.input, ideafile.TypeState: w.state}[kind]
	if !known {
		return ""
	}
	var titles []string
	for _, step := range path {
		isItem := format.Items != nil
		if format = format.At(jsonval.Path{step}); !isItem {
			titles = append(titles, format.TitleOr(step))
		}
	}
	return strings.Join(titles, " › ")
}

// ParamsFormat is how the parameters of a Tool are shown.
func (w *Words) ParamsFormat(tool string) Format {
	if t := w.tools[tool]; t != nil {
		return t.format
	}
	return Format{}
}

// ResultFormat is how the result of a Tool is shown.
func (w *Words) ResultFormat(tool string) Format {
	t := w.tools[tool]
	if t == nil || t.tool.OutputSchema == nil {
		return Format{}
	}
	return FormatOf(t.tool.OutputSchema.Source, t.tool.OutputSchema.Source)
}

// InputFormat is how the inputs of instances are shown.
func (w *Words) InputFormat() Format { return w.input }

// StateFormat is how the States of instances are shown.
func (w *Words) StateFormat() Format { return w.state }

// Call puts a Call with its parameters into words.
func (w *Words) Call(tool string, params jsonval.Object, token string, c Case, l Language) Call {
	out := Call{InstanceName: w.Name(token, c, l), ToolTitle: w.Tool(tool), Language: l}
	t := w.tools[tool]
	if t == nil {
		t = &toolWords{}
	}
	out.Fields, out.Hidden = t.fields(params, l)
	parts, ok := t.title.fill(l, w.lookup(t, params, c))
	if !ok {
		parts = defaultSentence(out.ToolTitle, out.Fields)
	}
	out.Parts, out.Sentence = parts, parts.String()
	return out
}

// lookup finds what a template reads, with how it is shown.
func (w *Words) lookup(t *toolWords, params jsonval.Object, c Case) func(refexpr.Reference) (any, Format, bool) {
	return func(r refexpr.Reference) (any, Format, bool) {
		value, format, path := any(params), Format{}, append(jsonval.Path{r.Kind}, r.Path...)
		if t != nil {
			format = t.format
		}
		if _, isParam := params[r.Kind]; !isParam {
			switch r.Kind {
			case ideafile.TypeInput:
				value, format, path = w.inputWith(c.Input, r.Path), w.input, r.Path
			case ideafile.TypeState:
				value, format, path = c.State, w.state, r.Path
			case ideafile.ParamsKind:
				path = r.Path
			}
		}
		v, ok := jsonval.ValueAt(value, path)
		return v, format.At(path), ok && v != nil
	}
}

// inputWith returns the input that has a path: the instance's own, unless only the shared input has its first step.
func (w *Words) inputWith(own any, path jsonval.Path) any {
	if len(path) > 0 {
		if _, has := jsonval.ChildValue(own, path[0]); has {
			return own
		}
		return w.shared
	}
	return own
}

// fields lists parameters in the order of Fields; the members of an object that the schema describes are fields of
// their own.
func (t *toolWords) fields(params jsonval.Object, l Language) (list []Field, hidden []string) {
	var add func(prefix string, f Format, values jsonval.Object, top bool)
	add = func(prefix string, f Format, values jsonval.Object, top bool) {
		for _, name := range f.OrderOf(values) {
			member, v := f.Properties[name], values[name]
			if member.Display == Hidden {
				hidden = append(hidden, prefix+name)
				continue
			}
			if below, isObject := v.(jsonval.Object); isObject && member.Properties != nil && len(below) > 0 {
				add(prefix+name+".", member, below, false)
				continue
			}
			one := Field{Name: prefix + name, Title: member.TitleOr(name), Value: v, Shown: member.Text(v, l),
				Format: member}
			if t.tool != nil && top {
				_, one.Fixed = t.tool.WiredParams[name]
			}
			if text, isText := v.(string); isText && member.Display == Letter {
				one.Parts = fillLetter(text, params)
				one.Shown = one.Parts.String()
			}
			list = append(list, one)
		}
	}
	add("", t.format, params, true)
	return list, hidden
}

// OrderOf lists the members of an object: those of the schema first, in its order.
func (f Format) OrderOf(values jsonval.Object) (names []string) {
	for _, name := range f.Order {
		if _, has := values[name]; has {
			names = append(names, name)
		}
	}
	for name := range jsonval.Sorted(values) {
		if _, known := f.Properties[name]; !known {
			names = append(names, name)
		}
	}
	return names
}

// fillLetter fills in a template from the parameters. The members of parameters that are objects come first, since a
// Tool takes the values of a template as one object. Unknown names stay as they are written.
func fillLetter(text string, params jsonval.Object) (parts Parts) {
	for _, part := range placeholder.Split(text) {
		if part.Name == "" {
			parts = append(parts, Part{Text: part.Text})
			continue
		}
		filled := Part{Text: "{" + part.Name + "}"}
		for _, values := range append(objectsOf(params), params) {
			if v, has := placeholder.Find(values, part.Name); has {
				filled = Part{placeholder.Text(v), true}
				break
			}
		}
		parts = append(parts, filled)
	}
	return parts
}

func objectsOf(params jsonval.Object) (list []jsonval.Object) {
	for _, v := range jsonval.Sorted(params) {
		if m, ok := v.(jsonval.Object); ok {
			list = append(list, m)
		}
	}
	return list
}

// Limits of the parameters in a sentence without a template.
const (
	maxShownFields = 2
	maxShownLength = 60
)

// defaultSentence is the sentence of a Tool without a _title: its title, and the two most telling parameters. Money
// comes before other values, and then the order of the schema counts.
func defaultSentence(title string, fields []Field) Parts {
	var shown []Field
	for _, wantMoney := range []bool{true, false} {
		for _, f := range fields {
			if len(shown) < maxShownFields && (f.Format.Display == Money) == wantMoney && f.isTelling() {
				shown = append(shown, f)
			}
		}
	}
	parts := Parts{{Text: title}}
	for n, f := range shown {
		before := ", "
		if n == 0 {
			before = ": "
		}
		parts = append(parts, Part{Text: before}, Part{oneLine(f.Shown, maxShownLength), true})
	}
	return parts
}

// isTelling reports whether a field's value is short enough to read at a glance.
func (f Field) isTelling() bool {
	switch f.Format.Display {
	case Letter, Link, Image, Text:
		return false
	}
	switch f.Value.(type) {
	case nil, bool, []any, jsonval.Object:
		return false
	}
	return !f.Fixed && f.Value != "" && utf8.RuneCountInString(f.Shown) <= maxShownLength &&
		!strings.Contains(f.Shown, "\n")
}

// maxInSentence bounds one value in a sentence or a name, in characters.
const maxInSentence = 120

func oneLine(text string, longest int) string {
	if len(text) > 8*longest { // more than enough for any result
		text = strings.ToValidUTF8(text[:8*longest], "")
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return text
}

// template is a template of `_title` or `config.instanceName`.
type template struct{ parsed *refexpr.Template }

func templateOf(text string) template {
	if text == "" {
		return template{}
	}
	t, err := refexpr.ParseTemplate(text)
	if err != nil {
		return template{} // reported when the file was read
	}
	return template{&t}
}

// fill puts values into the places; ok is false if there is no template, or if it reads an absent value.
func (t template) fill(l Language, lookup func(refexpr.Reference) (any, Format, bool)) (parts Parts, ok bool) {
	if t.parsed == nil {
		return nil, false
	}
	ok = true
	t.parsed.Each(func(text string) {
		if text != "" {
			parts = append(parts, Part{Text: text})
		}
	}, func(e refexpr.Expression) {
		var format Format // the format of the last term, which gives the value
		v, found := e.Evaluate(func(r refexpr.Reference) (v any, has bool) {
			v, format, has = lookup(r)
			return v, has
		})
		ok = ok && found
		parts = append(parts, Part{oneLine(format.Text(v, l), maxInSentence), true})
	})
	return parts, ok
}
