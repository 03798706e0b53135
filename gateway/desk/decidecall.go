package desk

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/desk/form"
	"processidea/gateway/desk/planpage"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// decideCall takes a decision on the Call of the address.
func (d *Desk) decideCall(w http.ResponseWriter, r *http.Request) error {
	decision := api.Decision{Process: r.PathValue("process"), Decision: client.Decision{
		Call: r.PathValue("call"), Kind: r.PostForm.Get("decision"), Digest: r.PostForm.Get("digest"),
		Reason: entered(r, "reason"),
	}}
	if decision.Kind != client.Comment {
		decision.To = entered(r, "to")
	}
	a, err := d.find(r)
	var gone *access.Refusal
	if err != nil && !errors.As(err, &gone) {
		return err
	}
	if err == nil {
		p := d.callPage(r, a)
		p.Reason, p.WrongIn = decision.Reason, decision.Kind
		if a.Digest != decision.Digest {
			d.showAnew(w, r, p)
			return nil
		}
		if !p.read(&decision, r.PostForm) {
			status := http.StatusUnprocessableEntity
			if p.Wrong == "" {
				status = http.StatusOK // it asks for one more item of a list
			}
			p.addForms()
			d.render(w, r, status, "call", p)
			return nil
		}
		if r.PostForm.Get("sign") != "" {
			return d.own.Ask(w, r, decision, a.Tool, p.Href)
		}
	}
	o := outcomes{Kind: decision.Kind, Back: "/", Who: nameOf(r), List: d.API.Decide(r.Context(),
		[]api.Decision{decision})}
	if approval.IsRemark(decision.Kind) && o.List[0].Outcome == api.OutcomeTaken {
		http.Redirect(w, r, callHref(decision.Process, decision.Call)+"#why", http.StatusSeeOther)
		return nil
	}
	if err == nil && o.List[0].Outcome != api.OutcomeTaken {
		if now, found := d.find(r); found == nil {
			p := d.callPage(r, now)
			p.Reason, p.WrongIn, p.Wrong = decision.Reason, decision.Kind,
				inWords(o.List[0], past[decision.Kind])
			if now.Digest != decision.Digest {
				d.showAnew(w, r, p)
				return nil
			}
			p.keep(r.PostForm)
			p.addForms()
			d.render(w, r, http.StatusConflict, "call", p)
			return nil
		}
	}
	return d.tell(w, r, o)
}

// showAnew shows a Call that is another one than the one that was decided on.
func (d *Desk) showAnew(w http.ResponseWriter, r *http.Request, p *callPage) {
	p.Changed, p.Wrong, p.WrongIn = true, "", ""
	p.addForms()
	d.render(w, r, http.StatusConflict, "call", p)
}

// read makes a decision of the form; ok is false if the form has an error, or asks for another item.
func (p *callPage) read(decision *api.Decision, values url.Values) (ok bool) {
	switch decision.Kind {
	case client.Approve:
	case client.Reject:
		if decision.Reason == "" {
			p.Wrong = planpage.NeedsReason
		}
	case client.Amend:
		p.readAmend(decision, values)
	case client.Replace:
		p.With = values.Get("with")
		p.readReplace(decision, values, ideafile.FindTool(p.Tools, p.With))
	case client.Answer:
		p.readAnswer(decision, values)
	case client.Comment, client.Ask, client.HandOver:
		p.To = decision.To
	default:
		p.Wrong = planpage.NoDecision
	}
	return p.Wrong == "" && !form.IsAdding(values)
}

// keep shows the entered values again.
func (p *callPage) keep(values url.Values) {
	ignored := api.Decision{}
	said := p.Wrong
	switch p.WrongIn {
	case client.Amend:
		p.readAmend(&ignored, values)
	case client.Answer:
		p.readAnswer(&ignored, values)
	}
	p.Wrong = said
}

const seeFields = "Some fields cannot be read; each says why."

func (p *callPage) readAmend(decision *api.Decision, values url.Values) {
	f, shown := p.amendForm(), p.A.Params
	v, wrong := f.Read(any(shown), values)
	p.Amend = f.Again(any(shown), true, values, wrong)
	if form.IsAdding(values) {
		return
	}
	wanted, isObject := v.(map[string]any)
	changes := form.Changes(shown, wanted)
	switch {
	case len(wrong) > 0:
		p.Wrong = seeFields
	case !isObject:
		p.Wrong = "The parameters must be an object."
	case changes == nil:
		p.Wrong = "Nothing is changed. To run it as it is, approve it."
	case p.Tool != nil:
		merged, err := approval.MergeParams(p.Tool, shown, changes)
		if err != nil {
			p.Wrong = "This does not fit the Tool: " + err.Error()
		} else if !jsonval.Equal(any(merged), any(wanted)) {
			p.Wrong = "A change cannot remove this field, because null is a valid value for it. Replace the Call " +
				"instead."
		}
	}
	decision.Params = api.Object{RawMessage: jsonval.Encode(changes)}
}

func (p *callPage) readReplace(decision *api.Decision, values url.Values, t *ideafile.Tool) {
	if t == nil {
		p.Wrong = "Choose the Tool of the new Call."
		return
	}
	f := replaceForm(t)
	shown, has := p.replaced(t)
	v, wrong := f.Read(shown, values)
	p.Replace, p.ReplacePath = f.Again(shown, has, values, wrong), strings.TrimSpace(values.Get("path"))
	call, isObject := v.(map[string]any)
	switch {
	case form.IsAdding(values):
		return
	case len(wrong) > 0:
		p.Wrong = seeFields
		return
	case !isObject:
		p.Wrong = "A Call must be an object."
		return
	}
	call["_tool"] = t.Name
	if p.ReplacePath != "" {
		call["_outputPath"] = p.ReplacePath
	}
	decision.With = api.Object{RawMessage: jsonval.Encode(any(call))}
}

func (p *callPage) readAnswer(decision *api.Decision, values url.Values) {
	f, has := p.answerForm()
	if !has {
		p.AnswerText, p.AnswerIs = values.Get("answer"), values.Get("answer-is")
		v, err := textAnswer(values)
		if err != nil {
			p.Wrong = "This cannot be read: " + err.Error() + "."
		}
		decision.Output = jsonval.Encode(v)
		return
	}
	v, wrong := f.Read(p.A.Output, values)
	p.Answer = f.Again(p.A.Output, p.A.Output != nil, values, wrong)
	if form.IsAdding(values) {
		return
	}
	if len(wrong) > 0 {
		p.Wrong = seeFields
		return
	}
	if err := p.Tool.OutputSchema.Validate(v); err != nil {
		p.Wrong = "This is no result of the Tool: " + err.Error()
	}
	decision.Output = jsonval.Encode(v)
}
