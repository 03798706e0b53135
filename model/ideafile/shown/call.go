package shown

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// TextSpan is a piece of a sentence or a letter: of the file's words, or from data.
type TextSpan struct {
	Text   string
	IsData bool
}

// TextSpans are pieces in their order.
type TextSpans []TextSpan

func (p TextSpans) String() string {
	var b strings.Builder
	for _, one := range p {
		b.WriteString(one.Text)
	}
	return b.String()
}

// Field is a parameter of a Call, or a member of one, as people see it.
type Field struct {
	Name        string `json:"name" doc:"of the parameter; of a member of one, with what leads to it: customer.name"`
	Title       string `json:"title"`
	Value       any    `json:"value"`
	DisplayText string `json:"shown" doc:"the value, in the reader's language"`

	Format  Format    `json:"-"`
	Parts   TextSpans `json:"-"` // of a letter: what came from data is marked
	IsFixed bool      `json:"-"` // its Tool's designer wired it
}

// Call is a Call in the words of the business.
type Call struct {
	// Sentence describes the Call.
	Sentence string `json:"sentence,omitempty" doc:"what the Call does, in the words of its Tool"`
	// InstanceName is the instance's name for people.
	InstanceName string `json:"instanceName,omitempty" doc:"what people call the instance"`
	// Fields are the parameters that people are shown, in the order of jsonschema.PropertyDisplayOrder.
	Fields []Field `json:"fields,omitempty" doc:"the parameters as people read them, in the order in which the Tool's schema was written, else the required ones as it lists them, then the others by name; params has them as they are"`

	Parts     TextSpans `json:"-"` // of Sentence
	ToolTitle string    `json:"-"`
	// ProcessTitle is the Presenter's.
	ProcessTitle string `json:"-"`
	// HiddenParamNames are the names of those parameters that only operators look at.
	HiddenParamNames []string `json:"-"`
	// ReviewCondition is the condition on the parameters under which the Tool's policy has a person look, as it is
	// written; nil: it has none. ParamsFormat is how the parameters are shown.
	ReviewCondition any    `json:"-"`
	ParamsFormat    Format `json:"-"`
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

// InstanceValues is the data of an instance: its input and its State.
type InstanceValues struct{ Input, State any }

// Presenter are the words of one Idea.
type Presenter struct {
	// ProcessTitle is what people call processes of the Idea's kind; empty: the Idea does not say.
	ProcessTitle string

	toolByName           map[string]*toolPresenter
	inputFormat          Format
	stateFormat          Format
	sharedInput          any // input of all instances
	instanceNameTemplate template
	tokensByInstanceName map[string][]string // by name: the first two instances that have it
	instanceNameByToken  map[string]string   // of the instances of the Idea, by token
	// amountByToken maps the token of an instance of the Idea to the first money in its data.
	amountByToken map[string]*Field
}

type toolPresenter struct {
	tool          *ideafile.Tool
	format        Format
	titleTemplate template
}

// NewPresenter reads the words of an Idea; nil, an Idea that is not known yet, has none.
func NewPresenter(idea *ideafile.Idea) *Presenter {
	w := &Presenter{toolByName: map[string]*toolPresenter{}, tokensByInstanceName: map[string][]string{},
		instanceNameByToken: map[string]string{}, amountByToken: map[string]*Field{}}
	if idea == nil {
		return w
	}
	w.ProcessTitle = ProcessTitleOf(idea.ProcessPath)
	view := ideafile.OwnInstanceView(idea.Context, "")
	w.sharedInput = view.PayloadByKind[ideafile.TypeInput]
	format := func(kind string) Format {
		schema := view.SchemaByKind[kind]
		for _, m := range idea.Context { // a sealed Idea has the State schema only in the States of instances
			if schema == nil && m.PayloadKind == kind {
				schema = m.PayloadSchema
			}
		}
		return FormatOf(schema, schema)
	}
	w.inputFormat, w.stateFormat = format(ideafile.TypeInput), format(ideafile.TypeState)
	for _, t := range idea.Tools {
		source := t.ParamsSchemaSource()
		w.toolByName[t.Name] = &toolPresenter{tool: t, format: FormatOf(source, source),
			titleTemplate: parseTemplate(t.TitleTemplate)}
	}
	w.instanceNameTemplate = parseTemplate(idea.Config.InstanceNameTemplate)
	if w.instanceNameTemplate.parsed == nil && !w.inputFormat.hasMoney() && !w.stateFormat.hasMoney() {
		return w
	}
	for token, messages := range ideafile.GroupMessagesByInstance(idea.Context) {
		payloadByKind := ideafile.OwnInstanceView(messages, token).PayloadByKind
		amount := cmp.Or(w.inputFormat.findAmount(payloadByKind[ideafile.TypeInput]),
			w.stateFormat.findAmount(payloadByKind[ideafile.TypeState]))
		if amount != nil {
			w.amountByToken[token] = amount
		}
		name := w.instanceNameWithoutToken(token, InstanceValues{payloadByKind[ideafile.TypeInput],
			payloadByKind[ideafile.TypeState]}, English)
		w.instanceNameByToken[token] = name
		if list := w.tokensByInstanceName[name]; token != "" && len(list) < 2 {
			w.tokensByInstanceName[name] = append(list, token)
		}
	}
	return w
}

// Name is the name of an instance for people. If other instances have the same name, its token is added.
func (w *Presenter) Name(token string, c InstanceValues, l Language) string {
	name := w.instanceNameWithoutToken(token, c, l)
	sameNameTokens := w.tokensByInstanceName[w.instanceNameWithoutToken(token, c, English)]
	if name != token && slices.ContainsFunc(sameNameTokens, func(other string) bool { return other != token }) {
		return name + " (" + token + ")"
	}
	return name
}

// KnownInstanceName is Name by the data that the Idea has of an instance. For an instance that the Idea does not know,
// it is the token.
func (w *Presenter) KnownInstanceName(token string) string {
	name, isKnown := w.instanceNameByToken[token]
	switch {
	case !isKnown || name == token:
		return token
	case len(w.tokensByInstanceName[name]) > 1:
		return name + " (" + token + ")"
	}
	return name
}

// InstanceAmount returns the first money in an instance's input, or else in its State; empty if there is none.
func (w *Presenter) InstanceAmount(token string, l Language) string {
	if amount := w.amountByToken[token]; amount != nil {
		return amount.Format.Text(amount.Value, l)
	}
	return ""
}

// InputSummary says what an instance is about by the most telling values of its input, without money and without what
// its name says already: "Order: A-1, Customer: Ann"; "" if none is telling.
func (w *Presenter) InputSummary(input any, instanceName string, l Language) string {
	texts := jsonval.Map(w.inputFormat.informativeFields(input, instanceName, l), func(f Field) string {
		return f.Title + ": " + toOneLine(f.DisplayText, maxInformativeFieldRunes)
	})
	return strings.Join(texts, ", ")
}

func (w *Presenter) instanceNameWithoutToken(token string, c InstanceValues, l Language) string {
	parts, ok := w.instanceNameTemplate.fill(l, w.referenceLookup(nil, nil, c))
	if name := parts.String(); ok && strings.TrimSpace(name) != "" {
		return name
	}
	return token
}

// ToolTitle is the title of a Tool.
func (w *Presenter) ToolTitle(name string) string {
	if t := w.toolByName[name]; t != nil {
		return t.format.TitleOr(name)
	}
	return titleFromName(name)
}

// PathTitle is what people call a value of the input or of State: the titles that lead to it; "" of any other value.
func (w *Presenter) PathTitle(kind string, path jsonval.Path) string {
	format, exists := map[string]Format{ideafile.TypeInput: w.inputFormat, ideafile.TypeState: w.stateFormat}[kind]
	if !exists {
		return ""
	}
	var titles []string
	for _, step := range path {
		isItem := format.Items != nil
		if format = format.FormatAt(jsonval.Path{step}); !isItem {
			titles = append(titles, format.TitleOr(step))
		}
	}
	return strings.Join(titles, " › ")
}

// ParamsFormat is how the parameters of a Tool are shown.
func (w *Presenter) ParamsFormat(toolName string) Format {
	if t := w.toolByName[toolName]; t != nil {
		return t.format
	}
	return Format{}
}

// ResultFormat is how the result of a Tool is shown.
func (w *Presenter) ResultFormat(toolName string) Format {
	t := w.toolByName[toolName]
	if t == nil || t.tool.OutputSchema == nil {
		return Format{}
	}
	return FormatOf(t.tool.OutputSchema.Source, t.tool.OutputSchema.Source)
}

// InputFormat is how the inputs of instances are shown.
func (w *Presenter) InputFormat() Format { return w.inputFormat }

// StateFormat is how the States of instances are shown.
func (w *Presenter) StateFormat() Format { return w.stateFormat }

// Call puts a Call with its parameters into words.
func (w *Presenter) Call(toolName string, params jsonval.Object, instanceToken string, c InstanceValues,
	l Language) Call {
	out := Call{InstanceName: w.Name(instanceToken, c, l), ToolTitle: w.ToolTitle(toolName),
		ProcessTitle: w.ProcessTitle,
		Language:     l}
	t := w.toolByName[toolName]
	if t == nil {
		t = &toolPresenter{}
	} else {
		out.ReviewCondition = jsonval.AsObject(t.tool.Source["_approval"])["when"]
	}
	out.ParamsFormat = t.format
	out.Fields, out.HiddenParamNames = t.fields(params, l)
	parts, ok := t.titleTemplate.fill(l, w.referenceLookup(t, params, c))
	if !ok {
		parts = defaultSentence(out.ToolTitle, out.Fields)
	}
	out.Parts, out.Sentence = parts, parts.String()
	return out
}

// referenceLookup finds what a template reads, with how it is shown.
func (w *Presenter) referenceLookup(t *toolPresenter, params jsonval.Object,
	c InstanceValues) func(refexpr.Reference) (any, Format, bool) {
	return func(r refexpr.Reference) (any, Format, bool) {
		value, format, path := any(params), Format{}, append(jsonval.Path{r.Kind}, r.Path...)
		if t != nil {
			format = t.format
		}
		if _, isParam := params[r.Kind]; !isParam {
			switch r.Kind {
			case ideafile.TypeInput:
				value, format, path = w.ownOrSharedInput(c.Input, r.Path), w.inputFormat, r.Path
			case ideafile.TypeState:
				value, format, path = c.State, w.stateFormat, r.Path
			case ideafile.ParamsReferenceKind:
				path = r.Path
			}
		}
		v, ok := jsonval.ValueAt(value, path)
		return v, format.FormatAt(path), ok && v != nil
	}
}

// ownOrSharedInput returns the input that has a path: the instance's own, unless only the shared input has its first
// step.
func (w *Presenter) ownOrSharedInput(ownInput any, path jsonval.Path) any {
	if len(path) > 0 {
		if _, exists := jsonval.ChildValue(ownInput, path[0]); exists {
			return ownInput
		}
		return w.sharedInput
	}
	return ownInput
}

// fields lists parameters in the order of Fields; the members of an object that the schema describes are fields of
// their own.
func (t *toolPresenter) fields(params jsonval.Object, l Language) (list []Field, hiddenNames []string) {
	var add func(prefix string, f Format, values jsonval.Object, isTopLevel bool)
	add = func(prefix string, f Format, values jsonval.Object, isTopLevel bool) {
		for _, name := range f.OrderedMemberNames(values) {
			memberFormat, v := f.Properties[name], values[name]
			if memberFormat.Display == Hidden {
				hiddenNames = append(hiddenNames, prefix+name)
				continue
			}
			if nested, isObject := v.(jsonval.Object); isObject && memberFormat.Properties != nil && len(nested) > 0 {
				add(prefix+name+".", memberFormat, nested, false)
				continue
			}
			field := Field{Name: prefix + name, Title: memberFormat.TitleOr(name), Value: v,
				DisplayText: memberFormat.Text(v, l),
				Format:      memberFormat}
			if t.tool != nil && isTopLevel {
				_, field.IsFixed = t.tool.WiredExpressionByParam[name]
			}
			if text, isText := v.(string); isText && memberFormat.Display == Letter {
				field.Parts = fillLetter(text, params)
				field.DisplayText = field.Parts.String()
			}
			list = append(list, field)
		}
	}
	add("", t.format, params, true)
	return list, hiddenNames
}

// OrderedMemberNames lists the members of an object: those of the schema first, in its order.
func (f Format) OrderedMemberNames(values jsonval.Object) (names []string) {
	for _, name := range f.Order {
		if _, exists := values[name]; exists {
			names = append(names, name)
		}
	}
	for name := range jsonval.Sorted(values) {
		if _, isDescribed := f.Properties[name]; !isDescribed {
			names = append(names, name)
		}
	}
	return names
}

// Limits of the parameters in a sentence without a template.
const (
	maxInformativeFields     = 2
	maxInformativeFieldRunes = 60
)

// defaultSentence is the sentence of a Tool without a _title: its title, and the two most telling parameters. Money
// comes before other values, and then the order of the schema counts.
func defaultSentence(title string, fields []Field) TextSpans {
	var chosenFields []Field
	for _, wantMoney := range []bool{true, false} {
		for _, f := range fields {
			if len(chosenFields) < maxInformativeFields && (f.Format.Display == Money) == wantMoney &&
				f.isInformative() {
				chosenFields = append(chosenFields, f)
			}
		}
	}
	parts := TextSpans{{Text: title}}
	for n, f := range chosenFields {
		separator := ", "
		if n == 0 {
			separator = ": "
		}
		parts = append(parts, TextSpan{Text: separator}, TextSpan{toOneLine(f.DisplayText, maxInformativeFieldRunes),
			true})
	}
	return parts
}

// informativeFields returns the most telling values of an object, without money and without what a name contains.
func (f Format) informativeFields(v any, instanceName string, l Language) (list []Field) {
	values := jsonval.AsObject(v)
	for _, name := range f.OrderedMemberNames(values) {
		memberFormat, v := f.Properties[name], values[name]
		if memberFormat.Display == Hidden || memberFormat.Display == Money {
			continue
		}
		if _, isObject := v.(jsonval.Object); isObject {
			list = append(list, memberFormat.informativeFields(v, instanceName, l)...)
		} else if one := (Field{Title: memberFormat.TitleOr(name), Value: v, DisplayText: memberFormat.Text(v, l),
			Format: memberFormat}); one.isInformative() && !strings.Contains(instanceName, one.DisplayText) {
			list = append(list, one)
		}
		if len(list) >= maxInformativeFields {
			return list[:maxInformativeFields]
		}
	}
	return list
}

// isInformative reports whether a field's value is short enough to read at a glance.
func (f Field) isInformative() bool {
	switch f.Format.Display {
	case Letter, Link, Image, Text:
		return false
	}
	switch f.Value.(type) {
	case nil, bool, []any, jsonval.Object:
		return false
	}
	return !f.IsFixed && f.Value != "" && utf8.RuneCountInString(f.DisplayText) <= maxInformativeFieldRunes &&
		!strings.Contains(f.DisplayText, "\n")
}

// maxSentenceValueRunes bounds one value in a sentence or a name, in characters.
const maxSentenceValueRunes = 120

func toOneLine(text string, maxRunes int) string {
	if len(text) > 8*maxRunes { // more than enough for any result
		text = strings.ToValidUTF8(text[:8*maxRunes], "")
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxRunes {
		return string(runes[:maxRunes-1]) + "…"
	}
	return text
}

// template is a template of `_title` or `config.instanceName`.
type template struct{ parsed *refexpr.Template }

func parseTemplate(text string) template {
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
func (t template) fill(l Language, lookup func(refexpr.Reference) (any, Format, bool)) (parts TextSpans, ok bool) {
	if t.parsed == nil {
		return nil, false
	}
	ok = true
	t.parsed.VisitParts(func(text string) {
		if text != "" {
			parts = append(parts, TextSpan{Text: text})
		}
	}, func(e refexpr.Expression) {
		var format Format // the format of the last term, which gives the value
		v, isFound := e.Evaluate(func(r refexpr.Reference) (v any, has bool) {
			v, format, has = lookup(r)
			return v, has
		})
		ok = ok && isFound
		parts = append(parts, TextSpan{toOneLine(format.Text(v, l), maxSentenceValueRunes), true})
	})
	return parts, ok
}
