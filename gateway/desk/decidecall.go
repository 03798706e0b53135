package desk

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/desk/form"
	"processidea/gateway/desk/ownkey"
	"processidea/gateway/desk/planpage"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// decideCall handles a decision on the Call of the address, or a standing order that is given on its page.
func (v *visit) decideCall() error {
	kind := cmp.Or(v.PostForm.Get("decision"), v.PostForm.Get("sign"))
	if err := api.CheckRightToAct(v.user, kind); err != nil {
		return err
	}
	if kind == approval.SteerGiveStandingOrder {
		return v.giveOrder()
	}
	decision := api.Decision{ProcessID: v.processID, Decision: client.Decision{
		CallID: v.PathValue("call"), Kind: kind,
		ApprovalDigest: v.PostForm.Get("digest"), Reason: normalizeNewlines(v.formValue("reason")),
	}}
	if decision.Kind != client.Comment {
		decision.ToPerson, decision.ToGroup = v.formValue("to"), v.formValue("toGroup")
	}
	decision.IsForRequest = decision.Kind == client.Ask && v.PostForm.Has("forRequest")
	a, err := v.findWaitingCall()
	var refusal *access.Refusal
	if err != nil && !errors.As(err, &refusal) {
		return err
	}
	if err == nil {
		p := v.callPageForDecision(decision, a)
		switch {
		case p.HasChanged:
			return v.showCallAgain(http.StatusConflict, p)
		case !p.readDecision(&decision, v.PostForm) && p.FormError == "": // the form asks for one more item of a list
			return v.showCallAgain(http.StatusOK, p)
		case p.FormError != "":
			return v.showCallAgain(http.StatusUnprocessableEntity, p)
		case v.PostForm.Get("sign") != "":
			return v.askToSign(decision, p)
		}
	}
	results := v.Decide(v.Context(), []api.Decision{decision})
	isAccepted := results[0].Outcome == api.OutcomeAccepted
	if isAccepted && approval.IsRemark(decision.Kind) {
		return v.redirect(callHref(decision.ProcessID, decision.CallID) + "#runs")
	}
	if current, findErr := v.findWaitingCall(); !isAccepted && err == nil && findErr == nil {
		p := v.callPageForDecision(decision, current)
		if !p.HasChanged {
			p.readDecision(&decision, v.PostForm) // shows what was entered
			p.FormError = resultText(results[0], pastTenseByDecisionKind[decision.Kind])
			if valueErrorPattern.MatchString(results[0].Reason) {
				p.FormError, p.FormErrorDetail = misfitMessage, results[0].Reason
			}
		}
		return v.showCallAgain(http.StatusConflict, p)
	}
	return v.redirectToOutcome(decision, a, results)
}

// redirectToOutcome redirects to the page with the outcome of a decision on one Call, which is zero if it did not wait.
func (v *visit) redirectToOutcome(decision api.Decision, a client.Approval, results []api.DecisionResult) error {
	caption := describeCase(a)
	if caption == "" { // somebody has decided meanwhile
		if d, err := v.Client.Process(v.processID).DecidedCall(v.Context(), decision.CallID); err == nil {
			caption = describeCase(client.Approval{Call: d.Call})
		}
	}
	o := outcomes{DecisionKind: decision.Kind, BackHref: v.FormValue("back"), Outcomes: outcomesOf(results, caption)}
	if decision.Kind == client.Approve || decision.Kind == client.Reject { // others may change the amount
		o.addAmounts([]client.Approval{a}, a.Language)
	}
	return v.redirectToOutcomes(o)
}

// askToSign shows the page for signing a decision, or the Call again with the reason why the person cannot sign.
func (v *visit) askToSign(decision api.Decision, p *callPage) error {
	subject := ownkey.DecisionSubject{Tool: p.Approval.Tool, ProcessTitle: p.Approval.ProcessTitle,
		Caption: describeCase(p.Approval), BackHref: p.Href}
	format := p.Presenter.ParamsFormat(p.Approval.Tool)
	switch decision.Kind {
	case client.Replace:
		subject.ReplacementTool, format = clipName(p.Presenter.ToolTitle(p.ReplacementTool)),
			p.Presenter.ParamsFormat(p.ReplacementTool)
	case client.Answer:
		format = p.Presenter.ResultFormat(p.Approval.Tool)
	}
	if value, _ := jsonval.Decode(decision.ValueJSON()); value != nil {
		builder := newFactBuilder(p.Approval.Language)
		builder.ShowsHidden = true // whoever signs it sees all of it
		signedFact := builder.BuildAt(nil, "", format, jsonschema.WithoutMetaKeys(value))
		subject.ValueFact = &signedFact
	}
	err := v.passkeyPages.AskForSignature(v.w, v.Request, decision, subject)
	problem := api.ProblemOf(err)
	if err == nil || problem.Status >= http.StatusInternalServerError {
		return err
	}
	p.FormError = problem.Detail
	return v.showCallAgain(problem.Status, p)
}

// callPageForDecision returns the page of a Call after a decision on it. HasChanged is set if the Call is no longer the
// one that was decided on.
func (v *visit) callPageForDecision(d api.Decision, a client.Approval) *callPage {
	p := v.newCallPage(a)
	p.Reason, p.FormErrorDecision, p.HasChanged = d.Reason, d.Kind, a.Digest != d.ApprovalDigest
	if p.HasChanged {
		p.FormErrorDecision = ""
	}
	return p
}

// showCallAgain shows a Call again after a form that decided nothing.
func (v *visit) showCallAgain(status int, p *callPage) error {
	p.addForms()
	return v.render(status, "call", p)
}

// readDecision completes a decision from the form; ok is false if the form has an error, or asks for another item.
func (p *callPage) readDecision(decision *api.Decision, values url.Values) (ok bool) {
	switch decision.Kind {
	case client.Approve:
	case client.Reject:
		if decision.Reason == "" {
			p.FormError = planpage.ReasonMissingText
		}
	case client.Amend:
		p.readAmend(decision, values)
	case client.Replace:
		p.ReplacementTool = values.Get("with")
		p.readReplace(decision, values, ideafile.FindTool(p.Tools, p.ReplacementTool))
	case client.Answer:
		p.readAnswer(decision, values)
	case client.Comment, client.Ask, client.HandOver:
		p.Recipient, p.RecipientGroup, p.IsForRequest = decision.ToPerson, decision.ToGroup, decision.IsForRequest
	default:
		p.FormError = planpage.UnknownDecisionText
	}
	return p.FormError == "" && !form.IsAddItemRequest(values)
}

const (
	seeFieldsMessage = "Some fields do not fit yet: each says why."
	misfitMessage    = "The values do not fit together, or one is missing. Nothing was decided."
)

// valueErrorPattern matches a refusal that says in the words of JSON Schema and of Plans how values do not fit.
var valueErrorPattern = regexp.MustCompile(`^(params|with|output): `)

func (p *callPage) readAmend(decision *api.Decision, values url.Values) {
	f, currentParams := p.amendForm(), p.Approval.Params
	v, fieldErrors := f.Read(currentParams, values)
	p.AmendField = f.NewFieldFromEntered(currentParams, true, values, fieldErrors)
	if form.IsAddItemRequest(values) {
		return
	}
	wantedParams, isObject := v.(jsonval.Object)
	changes := approval.DiffObjects(currentParams, wantedParams)
	switch {
	case len(fieldErrors) > 0:
		p.FormError = seeFieldsMessage
	case !isObject:
		p.FormError = "The values must be an object."
	case len(changes) == 0:
		p.FormError = "Nothing is changed. To run it as it is, approve it."
	case p.Tool != nil:
		merged, err := approval.MergeParams(p.Tool, currentParams, changes)
		if err != nil {
			p.FormError, p.FormErrorDetail = misfitMessage, err.Error()
		} else if !jsonval.Equal(merged, wantedParams) {
			p.FormError = "A change cannot remove this field, because null is a valid value for it. Have something " +
				"else done instead."
		}
	}
	decision.Params = api.Object{RawMessage: jsonval.Encode(changes)}
}

func (p *callPage) readReplace(decision *api.Decision, values url.Values, t *ideafile.Tool) {
	if t == nil {
		p.FormError = "Choose what is done instead."
		return
	}
	f := replaceForm(t, p.Approval.Language)
	initialValue, hasInitialValue := p.initialReplaceValue(t)
	v, fieldErrors := f.Read(initialValue, values)
	p.ReplaceField, p.ReplacePath = f.NewFieldFromEntered(initialValue, hasInitialValue, values, fieldErrors),
		strings.TrimSpace(values.Get("path"))
	call, isObject := v.(jsonval.Object)
	switch {
	case form.IsAddItemRequest(values):
		return
	case len(fieldErrors) > 0:
		p.FormError = seeFieldsMessage
		return
	case !isObject:
		p.FormError = "What is done instead must be an object."
		return
	}
	call["_tool"] = t.Name
	if p.ReplacePath != "" {
		call["_outputPath"] = p.ReplacePath
	}
	decision.Replacement = api.Object{RawMessage: jsonval.Encode(call)}
}

func (p *callPage) readAnswer(decision *api.Decision, values url.Values) {
	f, hasForm := p.answerForm()
	if !hasForm {
		p.AnswerText, p.AnswerFormat = values.Get("answer"), values.Get("answer-is")
		v, err := readSchemalessAnswer(values)
		if err != nil {
			p.FormError = "This cannot be read: " + err.Error() + "."
		}
		decision.Output = jsonval.Encode(v)
		return
	}
	v, fieldErrors := f.Read(p.Approval.Output, values)
	p.AnswerField = f.NewFieldFromEntered(p.Approval.Output, p.Approval.Output != nil, values, fieldErrors)
	if form.IsAddItemRequest(values) {
		return
	}
	if len(fieldErrors) > 0 {
		p.FormError = seeFieldsMessage
		return
	}
	if err := p.Tool.OutputSchema.Validate(v); err != nil {
		p.FormError, p.FormErrorDetail = misfitMessage, err.Error()
	}
	decision.Output = jsonval.Encode(v)
}
