package desk

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/readable"
	"processidea/gateway/access"
	"processidea/gateway/desk/form"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// callPage shows one Call that waits.
type callPage struct {
	frame
	Approval           client.Approval
	BackHref           string           // the inbox that led here
	Href               string           // of this page, with BackHref
	Tool               *ideafile.Tool   // nil: it is not known
	Tools              []*ideafile.Tool // the Tools that a replacing Call may have
	Params             []fact
	Origins            []fact // where values of Params come from
	Presenter          *shown.Presenter
	RuleText           string // the rule for asking a person, in words; "": none
	Input              *fact  // what else the case began with; nil: nothing
	State              *fact  // what else is known of it
	Result             *fact  // that was written for it; nil: none
	UnadaptedParams    *fact  // the parameters before they were adapted; nil: they were not
	IsIrreversible     bool   // nothing takes it back
	IsPlannedByLLM     bool
	Starters           string             // who started the process; empty: nobody said so
	IsStarter          bool               // the reader is one of them
	OpenQuestion       *approval.Decision // the last question to the reader that they have not answered; nil: none
	PolicyJSON         string             // of the Tool, as JSON
	NoDecisionEffects  []string           // what happens while nobody decides
	DenialReason       string
	MaySignWithPasskey bool // the person may sign with a passkey
	IsDecisionAllowed  map[string]bool
	FormError          string // the error in the form
	FormErrorDetail    string // more of the error, for operators
	FormErrorDecision  string // the decision with the error
	Recipient          string // the recipient of a hand-over or a question
	RecipientGroup     string
	RecipientGroups    []string // groups to which it can be handed over
	IsForRequest       bool     // the LLM is told of the question
	HasChanged         bool     // the Call has changed since it was shown
	Reason             string
	AmendField         *form.Field
	ReplacementTool    string
	ReplaceField       *form.Field
	ReplacePath        string
	AnswerField        *form.Field
	AnswerText         string
	AnswerFormat       string
	StandingOrder      *orderForm // nil: the person may not approve the Call
}

// The prefixes of the names of controls.
const (
	amendControlPrefix   = "p"
	replaceControlPrefix = "w"
	answerControlPrefix  = "r"
)

func (v *visit) showCall() error {
	a, err := v.findWaitingCall()
	if err != nil {
		return v.showDecidedCall(err)
	}
	p := v.newCallPage(a)
	p.ReplacementTool = v.FormValue("with")
	p.addReplaceForm()
	p.addForms()
	return v.show("call", p)
}

// findWaitingCall returns the waiting Call that the address names.
func (v *visit) findWaitingCall() (client.Approval, error) {
	processID, callID := v.processID, v.PathValue("call")
	list, err := v.ApprovalsIn(v.Context(), processID)
	if err != nil {
		return client.Approval{}, err
	}
	for _, a := range list {
		if ideafile.MatchesCallID(callID, a.CallID) {
			return a, nil
		}
	}
	return client.Approval{}, notFound("Step %s of %s does not wait: somebody has decided, its time or its process "+
		"is over, or there is no such step.", visibleText(callID), visibleText(processID))
}

// tools returns the Tools of a process; nil if they cannot be read.
func (d *Desk) tools(ctx context.Context, processID string) []*ideafile.Tool {
	return d.latestIdea(ctx, processID).Tools
}

// latestIdea returns the latest Idea of a process, or an empty one if it cannot be read.
func (d *Desk) latestIdea(ctx context.Context, processID string) *ideafile.Idea {
	idea, err := d.Client.Process(processID).Idea(ctx)
	if err != nil {
		d.Log.Warn("the Idea of a process cannot be read", "process", processID, "error", err)
		return &ideafile.Idea{}
	}
	return idea
}

func (v *visit) newCallPage(a client.Approval) *callPage {
	idea, person, presenter := v.latestIdea(v.Context(), a.Process), v.userWithPasskeys(),
		v.Client.Process(a.Process).Presenter(v.Context())
	starters := policy.ReadStarters(idea.Source)
	a = v.withDisagreementText(a)
	p := &callPage{
		Tools: idea.Tools, frame: v.frame(clipName(a.Sentence)), Approval: a,
		BackHref: deskPathOrRoot(v.FormValue("back")),
		Tool:     ideafile.FindTool(idea.Tools, a.Tool), DenialReason: denialReason(person, a),
		MaySignWithPasskey: mayDecideByPasskey(person, a),
		IsDecisionAllowed:  map[string]bool{}, Presenter: presenter,
		NoDecisionEffects: a.ReminderSchedule.DescriptionLines(timestampFormatter(a.Language)),
	}
	p.Href = callHrefFrom(p.BackHref, a.Process, a.CallID)
	p.Starters = strings.Join(jsonval.Map(starters, func(i policy.Identity) string { return i.Name }), ", ")
	p.IsStarter = slices.ContainsFunc(starters, policy.Identity{Name: person.Name, Account: person.Account}.Is)
	p.RecipientGroups = groupsToHandOverTo(a.Deciders, person.Groups)
	p.RuleText = reviewRuleText(a)
	p.OpenQuestion = openQuestionTo(person, p.IsStarter, a.Remarks)
	key, _ := ideafile.ParseCallKey(a.CallID)
	p.IsPlannedByLLM = key.Request > 0
	for _, kind := range a.AllowedDecisions {
		p.IsDecisionAllowed[kind] = p.DenialReason == "" || p.MaySignWithPasskey
	}
	var wiringByParam map[string]string
	if p.Tool != nil {
		wiringByParam, p.IsIrreversible = p.Tool.WiredExpressionByParam, v.isIrreversible(p.Tool)
		if source := p.Tool.Source["_approval"]; source != nil && source != true {
			p.PolicyJSON = form.PrettyJSON(source)
		}
	}
	p.Params = factsOfFields(a, newOriginLookup(wiringByParam, a, presenter,
		v.newWriterLookup(a, presenter)))
	p.Origins = takeOrigins(p.Params, "")
	p.Input, p.State = factOfUnshownData(presenter.InputFormat(), a.Input, a),
		factOfUnshownData(presenter.StateFormat(), a.State, a)
	p.Result = factInFormat(presenter.ResultFormat(a.Tool), a.Output, a)
	if adaptation := a.ParamsAdaptation; adaptation != nil && len(adaptation.OriginalParams) > 0 {
		p.UnadaptedParams = factInFormat(presenter.ParamsFormat(a.Tool), jsonval.ToJSONValue(adaptation.OriginalParams),
			a)
	}
	if p.IsDecisionAllowed[client.Approve] && p.DenialReason == "" {
		p.StandingOrder = orderFormOf(a.Process, a.CallID, a.Tool, a.Call, p.Now)
	}
	return p
}

// groupsToHandOverTo returns the groups that may decide by the rules. Where the rules name nobody, everybody may, and
// the groups of the person are those that the desk knows of.
func groupsToHandOverTo(rules policy.DeciderRules, personGroups []string) []string {
	groups := slices.Clone(rules.Groups())
	namesPeople := slices.ContainsFunc(rules, func(r policy.DeciderRule) bool { return len(r.People) > 0 })
	if len(groups) == 0 && !namesPeople {
		groups = slices.Clone(personGroups)
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// openQuestionTo returns the last question to a person after which the person has said nothing; nil if there is none.
func openQuestionTo(person *access.Person, isStarter bool, remarks []approval.Decision) (question *approval.Decision) {
	self := approval.Decision{DecidedBy: person.Name, Account: person.Account, Groups: person.Groups}
	for n := range remarks {
		r := &remarks[n]
		switch {
		case r.Identity().Is(self.Identity()):
			question = nil
		case r.Kind == client.Ask && (r.IsAddressedTo(self) || isStarter && r.RecipientText() == ""):
			question = r
		}
	}
	return question
}

// isIrreversible reports whether a Call of a Tool can never be undone, as far as this gateway knows. t is nil if the
// Tool is unknown.
func (d *Desk) isIrreversible(t *ideafile.Tool) bool {
	if t == nil {
		return false
	}
	soleToolIdea := &ideafile.Idea{Tools: []*ideafile.Tool{t}}
	return t.EffectiveUndo(d.Tools.Bind(soleToolIdea)[t.Name]).Kind == ideafile.UndoImpossible
}

// anyIrreversible reports whether one of some Calls can never be undone. It reads the Tools of a few processes only.
func (v *visit) anyIrreversible(list []client.Approval) bool {
	const maxProcessesRead = 3
	toolsByProcess := map[string][]*ideafile.Tool{}
	isIrreversibleByTool := map[[2]string]bool{}
	for _, a := range list {
		if a.Process == "" { // it does not wait any more
			continue
		}
		tools, isRead := toolsByProcess[a.Process]
		if !isRead && len(toolsByProcess) < maxProcessesRead {
			tools = v.tools(v.Context(), a.Process)
			toolsByProcess[a.Process] = tools
		}
		key := [2]string{a.Process, a.Tool}
		if _, isKnown := isIrreversibleByTool[key]; !isKnown {
			isIrreversibleByTool[key] = v.isIrreversible(ideafile.FindTool(tools, a.Tool))
		}
		if isIrreversibleByTool[key] {
			return true
		}
	}
	return false
}

// factsOfFields describes the parameters of a Call in the words of its Tool.
func factsOfFields(a client.Approval, originOf func(jsonval.Path, any) string) (facts []fact) {
	builder := newFactBuilder(a.Language)
	builder.OriginOf = originOf
	for n, field := range a.Fields {
		if builder.FactsLeft <= 0 {
			return append(facts, fact{Name: "…", HiddenCount: len(a.Fields) - n})
		}
		var f fact
		switch field.Value.(type) {
		case []any, jsonval.Object:
			f = builder.BuildAt(jsonval.Path{field.Name}, field.Title, field.Format, field.Value)
		default:
			f = builder.BuildAt(jsonval.Path{field.Name}, field.Title, shown.Format{}, field.DisplayText)
			f.Origin = originOf(jsonval.Path{field.Name}, field.Value)
		}
		if len(f.Facts) == 0 {
			f.IsNumber, f.Letter = isNumber(field.Value) || field.Format.Display == shown.Money, field.Parts
		}
		if f.Href == "" { // of a list each item has its own
			f.Href = readable.LinkTarget(field.Format.Display, field.Value)
		}
		facts = append(facts, f)
	}
	return facts
}

// factInFormat describes a value of a Call or of its case as its schema says; nil for nil.
func factInFormat(format shown.Format, v any, a client.Approval) *fact {
	if v == nil {
		return nil
	}
	f := newFactBuilder(a.Language).BuildAt(nil, "", format, v)
	return &f
}

// factOfUnshownData describes what the parameters of a Call do not show of its case; nil for nothing.
func factOfUnshownData(format shown.Format, instanceData any, a client.Approval) *fact {
	remainder := withoutShownValues(instanceData, a.Fields)
	if remainder == nil {
		return nil
	}
	builder := newFactBuilder(a.Language)
	builder.MakesTitlesFromNames = true
	f := builder.BuildAt(nil, "", format, remainder)
	// only operators see what is left
	if _, isObject := remainder.(jsonval.Object); isObject && len(f.Facts)+f.HiddenCount == 0 {
		return nil
	}
	return &f
}

// factOf describes a value; nil for nil.
func factOf(v any, l shown.Language) *fact {
	if v == nil {
		return nil
	}
	f := newFactBuilder(l).Build(v)
	return &f
}

func (p *callPage) amendForm() form.Form {
	f := form.Form{ControlPrefix: amendControlPrefix, Language: p.Approval.Language}
	if p.Tool != nil {
		f.Schema, f.FixedKeys = jsonval.ToJSONValue(p.Tool.ParamsSchemaSource()),
			jsonval.SortedKeys(p.Tool.WiredExpressionByParam)
	}
	return f
}

// replaceForm makes the form of a replacing Call, without the parameters that the Tool's designer wired.
func replaceForm(t *ideafile.Tool, l shown.Language) form.Form {
	schema := jsonval.AsObject(jsonval.ToJSONValue(t.ParamsSchemaSource()))
	wiredParamNames := jsonval.SortedKeys(t.WiredExpressionByParam)
	properties := jsonval.WithoutKey(jsonval.AsObject(schema["properties"]), wiredParamNames...)
	required, _ := jsonval.AsStringList(schema["required"])
	required = slices.DeleteFunc(slices.Clone(required), func(k string) bool {
		return slices.Contains(wiredParamNames,
			k)
	})
	schema = jsonval.WithoutKey(schema, "properties", "required")
	schema["type"], schema["required"] = "object", jsonval.ToJSONValue(required)
	if len(properties) > 0 {
		schema["properties"] = properties
	}
	return form.Form{ControlPrefix: replaceControlPrefix, Schema: schema, Language: l}
}

func (p *callPage) answerForm() (f form.Form, hasForm bool) {
	if p.Tool == nil || p.Tool.OutputSchema == nil {
		return f, false
	}
	return form.Form{ControlPrefix: answerControlPrefix, Schema: p.Tool.OutputSchema.Source,
		Language: p.Approval.Language}, true
}

// addForms makes the forms that the page does not have yet.
func (p *callPage) addForms() {
	if p.AmendField == nil && p.IsDecisionAllowed[client.Amend] {
		p.AmendField = p.amendForm().NewField(p.Approval.Params, true)
	}
	if f, hasForm := p.answerForm(); p.AnswerField == nil && hasForm && p.IsDecisionAllowed[client.Answer] {
		p.AnswerField = f.NewField(p.Approval.Output, p.Approval.Output != nil)
	}
	if p.AnswerFormat == "" {
		p.AnswerFormat = "text"
	}
}

// addReplaceForm makes the form of a replacing Call.
func (p *callPage) addReplaceForm() {
	if t := ideafile.FindTool(p.Tools, p.ReplacementTool); t != nil && p.ReplaceField == nil {
		p.ReplaceField = replaceForm(t, p.Approval.Language).NewField(p.initialReplaceValue(t))
	}
}

// initialReplaceValue returns the initial value of the form of a replacing Call: the parameters that would run, if the
// Tool is the same.
func (p *callPage) initialReplaceValue(t *ideafile.Tool) (value any, hasValue bool) {
	if t.Name != p.Approval.Tool {
		return nil, false
	}
	return jsonval.WithoutKey(p.Approval.Params, jsonval.SortedKeys(t.WiredExpressionByParam)...), true
}

// readSchemalessAnswer reads an answer without a schema.
func readSchemalessAnswer(values url.Values) (any, error) {
	text := strings.ReplaceAll(values.Get("answer"), "\r\n", "\n")
	if values.Get("answer-is") == "text" {
		return text, nil
	}
	v, err := jsonval.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the result is not JSON: %s", ideafiles.DecodeCause(err))
	}
	return v, nil
}
