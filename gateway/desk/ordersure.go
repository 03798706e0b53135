package desk

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
)

// orderConfirmPage asks for confirmation before a standing order is given. It shows the Calls that it would approve
// now.
type orderConfirmPage struct {
	frame
	CallHref         string // the page on which the order was filled in
	ToolTitle        string
	Terms            []orderTerm
	CoveredCount     int               // cases that it would approve now
	Rows             []client.Approval // the first of them
	HiddenCaseCount  int               // those that Rows leaves out
	Sum              string            // of their money; empty: it is not known, or there is none
	BeyondCount      int               // cases that fit too, and are more than the order may approve
	NeedsOthersCount int               // cases among CoveredCount that other people must approve too
	Count            int               // as entered; 0: any number
	IsIrreversible   bool              // nothing takes back what it approves
	LastDay          string            // empty: there is none
	MaxSum           string            // what all of its cases can come to; empty: it has no such bound
	MaxEach          string            // what one of its later cases can come to
	Reason           string
	EnteredValues    url.Values
}

// maxListedOrderCases is how many cases the page names.
const maxListedOrderCases = 10

// orderTerm is what an order says of one parameter.
type orderTerm struct {
	Title  string          // of the parameter
	Text   string          // its condition in words; empty: the order allows any value
	Letter shown.TextSpans // the letter that the order asks for, with titles for what is filled in; nil: none
}

// LaterCount is how many cases of Count it may approve later.
func (p orderConfirmPage) LaterCount() int { return max(0, p.Count-p.CoveredCount) }

// CoveredText is how many cases it would approve now, with their money if that is known.
func (p orderConfirmPage) CoveredText() string {
	if p.Sum == "" {
		return strconv.Itoa(p.CoveredCount)
	}
	return strconv.Itoa(p.CoveredCount) + " (" + p.Sum + ")"
}

// IsLimited reports whether the order limits any parameter.
func (p orderConfirmPage) IsLimited() bool {
	return slices.ContainsFunc(p.Terms, func(t orderTerm) bool { return t.Text != "" || t.Letter != nil })
}

// orderTerms says what an order allows: first of the parameters in the form, then of those that the form lacks.
func orderTerms(enteredValues url.Values, toolFormat shown.Format, l shown.Language) (terms []orderTerm) {
	isInForm := map[string]bool{}
	for n := range maxOrderFields {
		control := "o" + strconv.Itoa(n)
		name := enteredValues.Get(control + "-name")
		if name == "" {
			continue
		}
		path := jsonval.Path(strings.Split(name, "."))
		format := toolFormat.FormatAt(path)
		term := orderTerm{Title: format.TitleOr(path[len(path)-1])}
		rule, _ := orderRule(enteredValues, control, format, l)
		if letter, isText := rule["const"].(string); isText && format.Display == shown.Letter {
			term.Letter = toolFormat.LetterOutline(clip(letter, maxOrderLetterBytes))
		} else if rule != nil {
			condition := jsonval.Object{}
			addRule(condition, path, rule)
			term.Text = ruleInWords(toolFormat, condition, l)
		}
		isInForm[path[0]] = true
		terms = append(terms, term)
	}
	for _, name := range toolFormat.Order {
		if !isInForm[name] && toolFormat.Properties[name].Display != shown.Hidden {
			terms = append(terms, orderTerm{Title: toolFormat.MemberTitle(name)})
		}
	}
	return terms
}

func (v *visit) showOrderConfirmation(o client.StandingOrder) error {
	list, err := v.ApprovalsIn(v.Context(), spelling.WholeProcessID(v.processID))
	if err != nil {
		return err
	}
	l, presenter := client.LanguageOf(v.Context()), v.Client.Process(v.processID).Presenter(v.Context())
	toolFormat := presenter.ParamsFormat(o.Tool)
	p := orderConfirmPage{frame: v.processFrame("Check what you approve in advance"),
		CallHref:  callHref(v.processID, v.PathValue("call")),
		ToolTitle: presenter.ToolTitle(o.Tool), Count: o.MaxCalls, Reason: o.Reason, EnteredValues: v.PostForm}
	p.Terms = orderTerms(v.PostForm, toolFormat, l)
	if day := v.formValue("until"); day != "" {
		p.LastDay = shown.Format{Display: shown.Date}.Text(day, l)
	}
	p.addCoveredCalls(fittingCalls(o, list, v.userWithPasskeys(), p.Now), orderAmountBound(v.PostForm, toolFormat, l),
		l)
	p.IsIrreversible = v.isIrreversible(ideafile.FindTool(v.tools(v.Context(), v.processID), o.Tool))
	return v.show("ordersure", p)
}

// fittingCalls returns the waiting Calls to which a person gives their approval by an order, in the order in which the
// process looks at them.
func fittingCalls(o client.StandingOrder, list []client.Approval, giver *access.Person,
	now time.Time) (coveredCalls []client.Approval) {
	order := approval.StandingOrder{Tool: o.Tool, ParamsCondition: o.ParamsCondition, Until: o.Until}
	ownDecision := approval.Decision{DecidedBy: giver.Name, Account: giver.Account, Groups: giver.Groups}
	person := policy.Person{Name: giver.Name, Groups: giver.Groups, Account: giver.Account,
		HasVerifiedProof: giver.Signer != nil}
	for _, a := range list {
		if slices.Contains(a.AllowedDecisions, client.Approve) && order.NotCoveredReason(a.PendingCall, now) == "" &&
			decisionDenialReason(a, ownDecision, person) == "" {
			coveredCalls = append(coveredCalls, a)
		}
	}
	return coveredCalls
}

// addCoveredCalls adds the Calls that fit, of which the order approves no more than its count. bound is the most money
// that one of its cases is about; nil: there is no bound.
func (p *orderConfirmPage) addCoveredCalls(calls []client.Approval, amountBound *shown.Field, l shown.Language) {
	if p.Count > 0 && len(calls) > p.Count {
		p.BeyondCount, calls = len(calls)-p.Count, calls[:p.Count]
	}
	p.CoveredCount, p.HiddenCaseCount = len(calls), max(0, len(calls)-maxListedOrderCases)
	for _, a := range calls {
		if len(a.VotesSoFar)+1 < a.Deciders.RequiredApprovals() {
			p.NeedsOthersCount++
		}
	}
	p.Rows = calls[:p.CoveredCount-p.HiddenCaseCount]
	amounts := jsonval.Map(calls, func(a client.Approval) *shown.Field { return a.Amount() })
	if p.Sum = shown.SumText(amounts, l); len(amounts) == 1 && amounts[0] != nil {
		p.Sum = amounts[0].Format.MultipleText(amounts[0].Value, 1, l)
	}
	if amountBound == nil || p.Count == 0 {
		return
	}
	p.MaxEach = amountBound.DisplayText
	p.MaxSum = cmp.Or(shown.SumText(append(amounts, slices.Repeat([]*shown.Field{amountBound}, p.LaterCount())...), l),
		amountBound.Format.MultipleText(amountBound.Value, p.Count, l))
}

// orderAmountBound returns the most money that a case of an order is about, by the first field with money; nil: there
// is no bound.
func orderAmountBound(enteredValues url.Values, toolFormat shown.Format, l shown.Language) *shown.Field {
	for n := range maxOrderFields {
		control := "o" + strconv.Itoa(n)
		format := toolFormat.FormatAt(strings.Split(enteredValues.Get(control+"-name"), "."))
		if format.Display != shown.Money {
			continue
		}
		rule, _ := orderRule(enteredValues, control, format, l)
		bound := shown.Field{Value: cmp.Or(rule["maximum"], rule["const"]), Format: format}
		if bound.DisplayText = format.MultipleText(bound.Value, 1, l); bound.DisplayText != "" {
			return &bound
		}
		return nil
	}
	return nil
}
