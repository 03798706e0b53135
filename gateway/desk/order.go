package desk

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"processidea/client"
	"processidea/gateway/api"
	"processidea/gateway/desk/form"
	"processidea/model/approval"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// orderForm is the form of a standing order, which approves Calls like the one that is shown.
type orderForm struct {
	Href, Tool, ToolTitle string
	Fields                []orderField
	Count, Until, Reason  string            // what the form offers, or what was entered
	FieldErrors           map[string]string // what is wrong, by control; under "": with the order as a whole
}

// orderField is a parameter that the order may restrict by the value that the Call has.
type orderField struct {
	shown.Field
	Control   string
	ValueJSON string // the value, as the order contains it
	// IsNumber means that the value can be an upper bound. Limit is the bound as people enter it.
	IsNumber bool
	Limit    string
	Choice   string // any, same or most
}

func (f orderField) IsLetter() bool { return f.Format.Display == shown.Letter }
func (f orderField) IsMoney() bool  { return f.Format.Display == shown.Money }

// maxOrderFields bounds the parameters that the form offers. It offers no text and no letter of more bytes than these.
const (
	maxOrderFields      = 30
	maxOrderTextBytes   = 1000
	maxOrderLetterBytes = 8000
)

// FirstErrorID is the id of the first field with an error.
func (f orderForm) FirstErrorID() string { id, _ := f.firstError(); return id }

// FirstError is what is wrong with that field.
func (f orderForm) FirstError() string { _, text := f.firstError(); return text }

func (f orderForm) firstError() (id, text string) {
	for _, one := range f.Fields {
		if text = f.FieldErrors[one.Control]; text != "" && one.IsNumber {
			return one.Control + "-most", text
		} else if text != "" {
			return one.Control, text
		}
	}
	if text = f.FieldErrors["count"]; text != "" {
		return "order-count", text
	}
	return "order-until", f.FieldErrors["until"]
}

func orderFormOf(processID, callID, tool string, c shown.Call, now time.Time) *orderForm {
	f := &orderForm{Href: callHref(processID, callID), Tool: tool, ToolTitle: c.ToolTitle, Count: "10",
		Until: now.Add(7 * 24 * time.Hour).UTC().Format(time.DateOnly)}
	for n, field := range c.Fields[:min(len(c.Fields), maxOrderFields)] {
		if one, isOffered := orderFieldOf(field, c); isOffered {
			one.Control = "o" + strconv.Itoa(n)
			f.Fields = append(f.Fields, one)
		}
	}
	return f
}

// orderFieldOf suggests what the Call has where other cases may have the same, or less. Other texts differ with each
// case.
func orderFieldOf(field shown.Field, c shown.Call) (one orderField, isOffered bool) {
	one = orderField{Field: field, ValueJSON: jsonval.EncodeToString(field.Value), Choice: "any"}
	defaultsToSame := field.Format.IsChoice
	switch value := field.Value.(type) {
	case json.Number:
		one.IsNumber, one.Limit, one.Choice = true, field.Format.TypedNumberText(value, c.Language), "most"
	case bool:
		defaultsToSame = true
	case string:
		defaultsToSame = defaultsToSame || isReusableLetter(field, c)
		if len(value) > maxOrderTextBytes && (!one.IsLetter() || len(value) > maxOrderLetterBytes) {
			return one, false
		}
	default:
		return one, false
	}
	if defaultsToSame {
		one.Choice = "same"
	}
	return one, true
}

// isReusableLetter reports whether a letter seems to be for all cases: data of the case is filled in, and its own words
// contain none.
func isReusableLetter(letter shown.Field, c shown.Call) bool {
	hasData := slices.ContainsFunc(letter.Parts, func(p shown.TextSpan) bool { return p.IsData })
	return hasData && !slices.ContainsFunc(c.Fields, func(f shown.Field) bool {
		text, isText := f.Value.(string)
		return isText && text != "" && f.Format.Display != shown.Letter && !f.Format.IsChoice &&
			slices.ContainsFunc(letter.Parts, func(p shown.TextSpan) bool {
				return !p.IsData && strings.Contains(p.Text, text)
			})
	})
}

// refill shows what was entered, with what is wrong.
func (f *orderForm) refill(enteredValues url.Values, fieldErrors map[string]string) {
	f.Count, f.Until, f.Reason, f.FieldErrors = enteredValues.Get("count"), enteredValues.Get("until"),
		enteredValues.Get("reason"), fieldErrors
	for n := range f.Fields {
		one := &f.Fields[n]
		one.Choice, one.Limit = enteredValues.Get(one.Control), enteredValues.Get(one.Control+"-most")
	}
}

// giveOrder gives a standing order, once the person has seen what it would approve.
func (v *visit) giveOrder() error {
	o, fieldErrors := v.readOrder()
	switch {
	case len(fieldErrors) > 0:
		return v.showOrderAgain(http.StatusUnprocessableEntity, fieldErrors)
	case v.PostForm.Get("change") != "":
		return v.showOrderAgain(http.StatusOK, nil)
	case v.PostForm.Get("sure") == "":
		return v.showOrderConfirmation(o)
	}
	err := v.steerAndRedirect(ordersFragment, func(ctx context.Context, p *client.Process) error {
		return p.Allow(ctx, api.OrderGivenBy(v.user, o))
	})
	problem := api.ProblemOf(err)
	if err == nil || problem.Status >= http.StatusInternalServerError {
		return err
	}
	return v.showOrderAgain(problem.Status, map[string]string{"": detailOf(err)})
}

// orderPage is the form of a standing order as it was filled in.
type orderPage struct {
	frame
	StandingOrder *orderForm
}

// showOrderAgain shows the form as it was filled in, with what is wrong.
func (v *visit) showOrderAgain(status int, fieldErrors map[string]string) error {
	p := orderPage{frame: v.processFrame("Approve similar cases in advance")}
	if a, err := v.findWaitingCall(); err == nil {
		p.StandingOrder = v.newCallPage(a).StandingOrder
	} else if decided, err := v.newDecidedPage(err); err == nil {
		p.StandingOrder = decided.StandingOrder
	} else {
		return err
	}
	if p.StandingOrder == nil {
		return api.Unprocessable("You cannot approve similar cases in advance.")
	}
	p.StandingOrder.refill(v.PostForm, fieldErrors)
	return v.render(status, "order", p)
}

// readOrder reads a standing order: the entries for each parameter become a JSON Schema. fieldErrors says what is
// wrong, by control.
func (v *visit) readOrder() (o client.StandingOrder, fieldErrors map[string]string) {
	o = client.StandingOrder{ID: "desk-" + strings.ToLower(strconv.FormatInt(time.Now().UnixMilli(), 36)),
		Tool: v.PostForm.Get("tool"), Reason: v.formValue("reason")}
	o.ParamsCondition, fieldErrors = v.readOrderCondition(o.Tool)
	var err error
	if text := v.formValue("count"); text != "" {
		if o.MaxCalls, err = strconv.Atoi(text); err != nil || o.MaxCalls < 1 ||
			o.MaxCalls > approval.MaxCallsPerOrder {
			fieldErrors["count"] = "The number of cases must be a whole number from 1 to 100,000, such as 40."
		}
	}
	o.Until, err = v.readDay("until", oneDay)
	switch {
	case err != nil:
		fieldErrors["until"] = err.Error()
	case !o.Until.IsZero() && !time.Now().Before(o.Until):
		fieldErrors["until"] = "This day is over: choose a later one."
	}
	if v.formValue("count")+v.formValue("until") == "" {
		fieldErrors["count"] = "Say how many at most, or which day is the last: without both it would never end."
	}
	if err := o.Validate(); len(fieldErrors) == 0 && err != nil {
		fieldErrors[""] = "This order cannot be given: " + err.Error() + "."
	}
	return o, fieldErrors
}

// oneDay is added to a last day, so that the day itself counts.
const oneDay = 24 * time.Hour

// readDay reads a date of a form, and adds a duration to it. It returns the zero time if the field is empty.
func (v *visit) readDay(key string, extra time.Duration) (day time.Time, err error) {
	text := v.formValue(key)
	if text == "" {
		return day, nil
	}
	if day, err = time.Parse(time.DateOnly, text); err != nil {
		return day, api.Unprocessable("A day must be a date, such as 2026-12-04.")
	}
	return day.Add(extra), nil
}

// nameDeputy lets somebody decide in the caller's place for some days.
func (v *visit) nameDeputy() error {
	deputy, fieldErrors := client.Deputy{DeputyName: v.formValue("to"), Reason: v.formValue("reason")},
		map[string]string{}
	for _, day := range []struct {
		key  string
		of   *time.Time
		more time.Duration
	}{{"from", &deputy.From, 0}, {"until", &deputy.Until, oneDay}} {
		var err error
		if *day.of, err = v.readDay(day.key, day.more); err != nil {
			fieldErrors[day.key] = err.Error()
		}
	}
	if !deputy.Until.IsZero() && !deputy.From.Before(deputy.Until) {
		fieldErrors["from"] = "The first day is after the last one."
	}
	for _, key := range []string{"to", "until"} {
		if v.formValue(key) == "" {
			fieldErrors[key] = "A deputy needs a name and a last day."
		}
	}
	if len(fieldErrors) > 0 {
		return v.showProcessAgain("deputy",
			api.Unprocessable("No deputy is named yet: see what is wrong below."), fieldErrors)
	}
	return v.steerByForm("deputy", ordersFragment, func(ctx context.Context, p *client.Process) error {
		return p.NameDeputy(ctx, api.DeputyNamedBy(v.user, deputy))
	})
}

// readOrderCondition makes the condition from the form's entries for each parameter, or nil if there are no conditions.
func (v *visit) readOrderCondition(tool string) (condition jsonval.Object, fieldErrors map[string]string) {
	toolFormat := v.Client.Process(v.processID).Presenter(v.Context()).ParamsFormat(tool)
	condition, fieldErrors = jsonval.Object{}, map[string]string{}
	for n := range maxOrderFields {
		control := "o" + strconv.Itoa(n)
		name := v.PostForm.Get(control + "-name")
		path := jsonval.Path(strings.Split(name, "."))
		rule, problem := orderRule(v.PostForm, control, toolFormat.FormatAt(path), client.LanguageOf(v.Context()))
		if problem != "" {
			fieldErrors[control] = problem
		} else if name != "" && rule != nil {
			addRule(condition, path, rule)
		}
	}
	if len(condition) == 0 {
		condition = nil
	}
	return condition, fieldErrors
}

// orderRule returns the schema of one parameter, or nil if any value is allowed.
func orderRule(values url.Values, control string, format shown.Format, l shown.Language) (rule jsonval.Object,
	problem string) {
	switch values.Get(control) {
	case "same":
		v, err := jsonval.Decode([]byte(values.Get(control + "-value")))
		if err != nil {
			problem = "choose a value"
		}
		return jsonval.Object{"const": v}, problem
	case "most":
		n, problem := format.ParseTypedNumber(values.Get(control+"-most"), l)
		return jsonval.Object{"type": "number", "maximum": n}, problem
	}
	return nil, ""
}

// addRule adds a rule at a path of objects, and makes each object of the path required.
func addRule(schema jsonval.Object, path jsonval.Path, rule jsonval.Object) {
	for n, name := range path {
		properties, hasProperties := schema["properties"].(jsonval.Object)
		if !hasProperties {
			properties = jsonval.Object{}
			schema["properties"] = properties
		}
		required, _ := schema["required"].([]any)
		if _, isKnown := properties[name]; !isKnown {
			schema["required"] = append(required, any(name))
			properties[name] = jsonval.Object{}
		}
		if n == len(path)-1 {
			properties[name] = rule
			return
		}
		schema = properties[name].(jsonval.Object)
	}
}

// endOrder ends a standing order.
func (v *visit) endOrder() error {
	return v.steerByForm("orders", ordersFragment, func(ctx context.Context, p *client.Process) error {
		return p.Disallow(ctx, v.PostForm.Get("order"), v.callerActor())
	})
}

// orderRow is a standing order as the page of its process shows it.
type orderRow struct {
	*approval.StandingOrderState
	ToolTitle     string
	Terms         []string
	ConditionJSON string // its condition as JSON; empty: it has none
	IsActive      bool
}

func orderRows(orders approval.StandingOrders, presenter *shown.Presenter, l shown.Language,
	now time.Time) (rows []orderRow) {
	for _, o := range orders {
		row := orderRow{StandingOrderState: o, ToolTitle: presenter.ToolTitle(o.Tool), IsActive: o.IsInForce(now)}
		row.Terms = rulesInWords(presenter.ParamsFormat(o.Tool), o.ParamsCondition, l)
		if o.ParamsCondition != nil {
			row.ConditionJSON = form.PrettyJSON(o.ParamsCondition)
		}
		rows = append(rows, row)
	}
	return rows
}
