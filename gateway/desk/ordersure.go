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
	"processidea/model/ideafile/shown"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
)

// orderSurePage asks for confirmation before a standing order is given. It shows the Calls that it would approve now.
type orderSurePage struct {
	frame
	CallHref    string // the page on which the order was filled in
	ToolTitle   string
	Terms       []orderTerm
	Covered     int               // cases that it would approve now
	Rows        []client.Approval // the first of them
	More        int               // those that Rows leaves out
	Sum         string            // of their money; empty: it is not known, or there is none
	BeyondCount int               // cases that fit too, and are more than the order may approve
	NeedOthers  int               // cases among Covered that other people must approve too
	Count       int               // as entered; 0: any number
	LastDay     string            // empty: there is none
	AtMost      string            // what all of its cases can come to; empty: it has no such bound
	Reason      string
	Entered     url.Values
}

// maxOrderNames is how many cases the page names.
const maxOrderNames = 10

// orderTerm is what an order says of one parameter.
type orderTerm struct {
	Title  string // of the parameter
	Text   string // its condition in words; empty: the order allows any value
	Letter string // the template that the order asks for; empty: none
}

// IsLimited reports whether the order limits any parameter.
func (p orderSurePage) IsLimited() bool {
	return slices.ContainsFunc(p.Terms, func(t orderTerm) bool { return t.Text+t.Letter != "" })
}

// orderTerms says what an order allows: first of the parameters in the form, then of those that the form lacks.
func orderTerms(entered url.Values, formats shown.Format, l shown.Language) (terms []orderTerm) {
	isInForm := map[string]bool{}
	for n := range maxOrderFields {
		control := "o" + strconv.Itoa(n)
		name := entered.Get(control + "-name")
		if name == "" {
			continue
		}
		path := jsonval.Path(strings.Split(name, "."))
		format := formats.FormatAt(path)
		term := orderTerm{Title: format.TitleOr(path[len(path)-1])}
		rule, _ := orderRule(entered, control, format, l)
		if letter, isText := rule["const"].(string); isText && format.Display == shown.Letter {
			term.Letter = letter
		} else if rule != nil {
			condition := jsonval.Object{}
			addRule(condition, path, rule)
			term.Text = ruleInWords(formats, condition, l)
		}
		isInForm[path[0]] = true
		terms = append(terms, term)
	}
	for _, name := range formats.Order {
		if !isInForm[name] && formats.Properties[name].Display != shown.Hidden {
			terms = append(terms, orderTerm{Title: formats.MemberTitle(name)})
		}
	}
	return terms
}

func (v *visit) askWhetherOrder(o client.StandingOrder) error {
	list, err := v.ApprovalsIn(v.Context(), spelling.WholeProcessID(v.process))
	if err != nil {
		return err
	}
	l, presenter := client.LanguageOf(v.Context()), v.Client.Process(v.process).Presenter(v.Context())
	formats := presenter.ParamsFormat(o.Tool)
	p := orderSurePage{frame: v.processFrame("Check what you approve in advance"),
		CallHref:  callHref(v.process, v.PathValue("call")),
		ToolTitle: presenter.ToolTitle(o.Tool), Count: o.Count, Reason: o.Reason, Entered: v.PostForm,
		AtMost: orderCeiling(v.PostForm, formats, o.Count, l)}
	p.Terms = orderTerms(v.PostForm, formats, l)
	if day := v.formValue("until"); day != "" {
		p.LastDay = shown.Format{Display: shown.Date}.Text(day, l)
	}
	p.addCovered(fittingCalls(o, list, v.caller(), p.Now), l)
	return v.show("ordersure", p)
}

// fittingCalls returns the waiting Calls to which a person gives their approval by an order, in the order in which the
// process looks at them.
func fittingCalls(o client.StandingOrder, list []client.Approval, giver *access.Person,
	now time.Time) (fitting []client.Approval) {
	order := approval.StandingOrder{Tool: o.Tool, ParamsCondition: o.When, Until: o.Until}
	own := approval.Decision{DecidedBy: giver.Name, Account: giver.Account, Groups: giver.Groups}
	person := policy.Person{Name: giver.Name, Groups: giver.Groups, Account: giver.Account, HasVerifiedProof: giver.Key != nil}
	for _, a := range list {
		if slices.Contains(a.AllowedDecisions, client.Approve) && order.NotCoveredReason(a.Pending, now) == "" &&
			capacityDenialReason(a, own, person) == "" {
			fitting = append(fitting, a)
		}
	}
	return fitting
}

// addCovered adds the Calls that fit, of which the order approves no more than its count.
func (p *orderSurePage) addCovered(fitting []client.Approval, l shown.Language) {
	if p.Count > 0 && len(fitting) > p.Count {
		p.BeyondCount, fitting = len(fitting)-p.Count, fitting[:p.Count]
	}
	p.Covered, p.More = len(fitting), max(0, len(fitting)-maxOrderNames)
	for _, a := range fitting {
		if len(a.DecidedSoFar)+1 < a.Deciders.RequiredApprovals() {
			p.NeedOthers++
		}
	}
	p.Rows = fitting[:p.Covered-p.More]
	amounts := jsonval.Map(fitting, func(a client.Approval) *shown.Field { return a.Amount() })
	if p.Sum = shown.SumText(amounts, l); len(amounts) == 1 && amounts[0] != nil {
		p.Sum = amounts[0].Format.MultipleText(amounts[0].Value, 1, l)
	}
}

// orderCeiling returns what the cases of an order can come to: its count times the bound of the first field with money.
func orderCeiling(entered url.Values, formats shown.Format, count int, l shown.Language) string {
	for n := range maxOrderFields {
		control := "o" + strconv.Itoa(n)
		format := formats.FormatAt(strings.Split(entered.Get(control+"-name"), "."))
		if format.Display == shown.Money && count > 0 {
			rule, _ := orderRule(entered, control, format, l)
			return format.MultipleText(cmp.Or(rule["maximum"], rule["const"]), count, l)
		}
	}
	return ""
}
