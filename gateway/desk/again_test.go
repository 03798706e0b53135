package desk

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
	"processidea/model/ideafile/shown"
	"processidea/model/loop"
)

// shows gives a page in English.
func shows(t *testing.T, name string, data any) string {
	t.Helper()
	all, err := loadTemplates()
	var b bytes.Buffer
	if err == nil {
		err = all[shown.English][name].ExecuteTemplate(&b, "frame", data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestARefusedFormOfAProcessKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	p := &processPage{frame: frame{HasRight: map[string]bool{"decide": true, "steer": true}}}
	untouched := shows(t, "process", p)
	for form, typed := range map[string]url.Values{
		"deputy": {"to": {"bob"}, "from": {"2026-12-01"}, "until": {"2026-12-24"}, "reason": {"on leave"}},
		"steer":  {"text": {"Be kind."}, "reason": {"lunch"}, "sure": {"yes"}},
	} {
		p.RefusedForm = submittedForm{form, typed, map[string]string{"": "It may not be.",
			"until": "That day is over."}}
		page := shows(t, "process", p)
		for key, value := range typed {
			want := value[0]
			if key == "sure" {
				want = `value="yes" checked`
			}
			if strings.Contains(untouched, want) || !strings.Contains(page, want) {
				t.Errorf("%s: %s is not kept: %q", form, key, want)
			}
		}
		if !strings.Contains(page, `>It may not be.</p>`) || strings.Contains(untouched, `role="alert"`) {
			t.Errorf("%s: the page does not say why", form)
		}
		if isBeside := strings.Contains(page, `aria-describedby="deputy-until-error"`) &&
			strings.Contains(page, `id="deputy-until-error">That day is over.`); isBeside != (form == "deputy") {
			t.Errorf("%s: what is wrong stands beside its field: %t", form, isBeside)
		}
		if isOpen := strings.Contains(page, `id="deputy" open`); isOpen != (form == "deputy") {
			t.Errorf("%s: the form of a deputy is open: %t", form, isOpen)
		}
	}
}

// What steers a process is folded, unless it was refused, or is what lets a paused process go on.
func TestWhatSteersAProcessIsOpenWhereItIsNeeded(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		refused, open string
		status        loop.Status
	}{
		{status: loop.StatusRunning}, {refused: "revise", status: loop.StatusRunning, open: "Correct it"},
		{refused: "cancel", status: loop.StatusRunning, open: "Pause or end it"},
		{status: loop.StatusPaused, open: "Let it go on, or end it"},
	} {
		p := &processPage{frame: frame{HasRight: map[string]bool{"steer": true}}}
		p.Status.Status, p.RefusedForm = one.status, submittedForm{ID: "steer", Values: url.Values{"do": {one.refused}}}
		_, opened, _ := strings.Cut(shows(t, "process", p), `<details class="decision" open><summary>`)
		if got, _, _ := strings.Cut(opened, "</summary>"); got != one.open {
			t.Errorf("%s, refused %q: %q is open", one.status, one.refused, got)
		}
	}
}

// Who may look and not decide still answers what they were asked.
func TestWhoMayLookAnswersAtTheDesk(t *testing.T) {
	t.Parallel()
	ask := func(by, to, group string) approval.Decision {
		return approval.Decision{Kind: client.Ask, DecidedBy: by, RecipientName: to, RecipientGroup: group,
			Reason: "why?"}
	}
	say := func(by string) approval.Decision { return approval.Decision{Kind: client.Comment, DecidedBy: by} }
	ann := &access.Person{Name: "ann", Groups: []string{"shop"}, Rights: []access.Right{access.Look}}
	for name, one := range map[string]struct {
		remarks   []approval.Decision
		isStarter bool
		want      string // who asks
	}{
		"by name":              {[]approval.Decision{ask("bob", "Ann", "")}, false, "bob"},
		"by group":             {[]approval.Decision{ask("bob", "", "shop")}, false, "bob"},
		"who started it":       {[]approval.Decision{ask("bob", "", "")}, true, "bob"},
		"who did not start it": {[]approval.Decision{ask("bob", "", "")}, false, ""},
		"somebody else":        {[]approval.Decision{ask("bob", "cem", "")}, true, ""},
		"asked again": {[]approval.Decision{ask("bob", "ann", ""), say("ann"), ask("eve", "ann", "")},
			true, "eve"},
		"answered":         {[]approval.Decision{ask("bob", "ann", ""), say("ann")}, false, ""},
		"another answered": {[]approval.Decision{ask("bob", "ann", ""), say("cem")}, false, "bob"},
	} {
		question := openQuestionTo(ann, one.isStarter, one.remarks)
		if (question == nil) != (one.want == "") || question != nil && question.DecidedBy != one.want {
			t.Errorf("%s: %+v", name, question)
		}
		p := &callPage{frame: frame{HasRight: map[string]bool{"look": true}}, Presenter: shown.NewPresenter(nil),
			DenialReason: "You may look, and not decide.", OpenQuestion: question}
		p.Approval.AllowedDecisions = []string{client.Approve}
		page := shows(t, "call", p)
		for text, isShown := range map[string]bool{`value="comment">Answer<`: question != nil,
			`value="comment">Say it<`: question == nil, `id="remark" open`: question != nil, `value="ask"`: false,
			`value="hand-over"`: false, `name="to"`: false, `value="approve"`: false} {
			if strings.Contains(page, text) != isShown {
				t.Errorf("%s: %s: shown %v", name, text, !isShown)
			}
		}
	}
}

// A browser scrolls to the form that was refused: what is wrong stands there too.
func TestWhatIsWrongStandsInTheFormThatIsShown(t *testing.T) {
	t.Parallel()
	p := &callPage{frame: frame{HasRight: map[string]bool{"decide": true}}, Presenter: shown.NewPresenter(nil),
		FormError:         "It may not be.",
		IsDecisionAllowed: map[string]bool{client.Answer: true}, Reason: "busy", Recipient: "bob",
		AnswerText: "all well"}
	p.Approval.AllowedDecisions = []string{client.Answer, client.Ask, client.HandOver}
	for kind, at := range map[string]string{client.Answer: "answer", client.Ask: "remark", client.HandOver: "remark"} {
		p.FormErrorDecision = kind
		page := shows(t, "call", p)
		_, form, isOpen := strings.Cut(page, `id="`+at+`" open`)
		form, _, _ = strings.Cut(form, "</form>")
		if !isOpen || !strings.Contains(form, `class="error">It may not be.`) || !strings.Contains(form, "busy") {
			t.Errorf("%s: %s", kind, form)
		}
		if strings.Count(page, `class="error">It may not be.`) != 1 {
			t.Errorf("%s: another form has it too", kind)
		}
	}
}
