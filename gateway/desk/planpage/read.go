package planpage

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/gateway/api"
	"processidea/gateway/desk/form"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// The names of controls, beside those of the forms.
const (
	keepField       = "keep"  // the numbers of the Calls that stay
	openField       = "open"  // the numbers of the Calls that are changed
	editField       = "edit"  // the button that opens a Call; its value is the number
	addedCallsField = "added" // Calls that are added, as JSON
	nextCallField   = "new"   // the next Call to add, as JSON
	restSuffix      = "-rest" // suffix of the prefix of a Call's form: the rest of the Call
)

// IsPageEditRequest reports whether the sent form only asks for a change of the page, and decides on nothing.
func IsPageEditRequest(values url.Values) bool {
	return values.Get(editField) != "" || values.Get("do") == "add" || form.IsAddItemRequest(values)
}

// Read applies the sent form to the Calls, and returns all Calls of the Plan as it is to run. If FormError is set, on
// the page or on a Call, they are invalid.
func (p *Page) Read(values url.Values) (calls []any) {
	p.IsAmending = true
	hasChanges := false
	for _, c := range p.Calls {
		number := strconv.Itoa(c.Number)
		c.IsKept = slices.Contains(values[keepField], number)
		writtenCall := c.originalCall
		if slices.Contains(values[openField], number) && c.CanOpen {
			writtenCall = p.readEditedCall(c, values)
		} else if values.Get(editField) == number && c.CanOpen {
			c.addParamsForm(nil, nil)
		}
		if !c.IsKept {
			hasChanges = true
			continue
		}
		hasChanges = hasChanges || !jsonval.Equal(writtenCall, c.originalCall)
		calls = append(calls, writtenCall)
	}
	addedCalls := p.readAddedCalls(values)
	if IsPageEditRequest(values) {
		return nil
	}
	calls = append(calls, addedCalls...)
	switch {
	case p.FormError != "":
	case len(calls) == 0:
		p.FormError = "No step is left. To run none of them, reject the Plan."
	case !hasChanges && len(addedCalls) == 0:
		p.FormError = "Nothing is changed. To run it as it is, approve it."
	}
	return calls
}

// addParamsForm adds the form of a Call's parameters, with its own values or with those that were entered.
func (c *Call) addParamsForm(values url.Values, fieldErrors map[string]string) {
	if c.ParamsForm = c.form.NewField(c.amendableParams, true); values != nil {
		c.ParamsForm = c.form.NewFieldFromEntered(c.amendableParams, true, values, fieldErrors)
		c.RestJSON = strings.ReplaceAll(values.Get(c.form.ControlPrefix+restSuffix), "\r\n", "\n")
		return
	}
	restMembers := maps.Clone(jsonval.AsObject(c.originalCall))
	maps.DeleteFunc(restMembers, func(key string, _ any) bool { return !strings.HasPrefix(key, "_") || key == "_tool" })
	c.RestJSON = form.PrettyJSON(jsonval.ToJSONValue(restMembers))
}

// readEditedCall reads a Call whose fields are open.
func (p *Page) readEditedCall(c *Call, values url.Values) any {
	v, fieldErrors := c.form.Read(c.amendableParams, values)
	c.addParamsForm(values, fieldErrors)
	call, isObject := v.(jsonval.Object)
	restMembers, err := jsonval.DecodeObject([]byte(c.RestJSON))
	switch {
	case form.IsAddItemRequest(values):
		return c.originalCall
	case len(fieldErrors) > 0:
		c.FormError = "some fields do not fit yet: each says why"
	case !isObject:
		c.FormError = "the values of a step must be an object"
	case err != nil:
		c.FormError = "the rest of the step is not a JSON object: " + ideafiles.DecodeCause(err)
	}
	for key := range restMembers {
		if !strings.HasPrefix(key, "_") || key == "_tool" {
			c.FormError = fmt.Sprintf("%q may not be here: what it does and its values are above", key)
		}
	}
	if c.FormError != "" {
		if c.IsKept {
			p.FormError = "Step " + c.ID + " does not fit yet: see the message beside it."
		}
		return c.originalCall
	}
	out := jsonval.Object{"_tool": c.Tool}
	maps.Copy(out, call)
	maps.Copy(out, restMembers)
	return out
}

// readAddedCalls reads the added Calls and skips empty ones.
func (p *Page) readAddedCalls(values url.Values) (calls []any) {
	texts := slices.Clone(values[addedCallsField])
	if next := values.Get(nextCallField); strings.TrimSpace(next) != "" {
		texts = append(texts, next)
	}
	for _, text := range texts {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		if strings.TrimSpace(text) == "" {
			continue
		}
		c := &Call{Number: len(p.AddedCalls) + 1, JSON: text}
		p.AddedCalls = append(p.AddedCalls, c)
		call, err := jsonval.DecodeObject([]byte(text))
		c.Tool, _ = call["_tool"].(string)
		switch {
		case err != nil:
			c.FormError = `want a JSON object, such as {"_tool": "tell", "text": "†state.text"}: ` +
				ideafiles.DecodeCause(err)
		case c.Tool == "":
			c.FormError = `it does not say what to do: "_tool" is missing`
		case len(p.Tools) > 0 && ideafile.FindTool(p.Tools, c.Tool) == nil:
			c.FormError = "there is no step of the kind " + c.Tool
		}
		if c.FormError != "" {
			p.FormError = "A step that you add is invalid: see the message beside it."
		}
		calls = append(calls, any(call))
	}
	return calls
}

// callIndexPattern matches the place by which a problem names a Call.
var callIndexPattern = regexp.MustCompile(`calls\[([0-9]+)\]$`)

// ShowProblems shows the problems that the process found, each beside the Call that was sent.
func (p *Page) ShowProblems(problems []api.Place) {
	sentCalls := append(jsonval.Filter(p.Calls, func(c *Call) bool { return c.IsKept }), p.AddedCalls...)
	for _, problem := range problems {
		m := callIndexPattern.FindStringSubmatch(problem.Path)
		if m == nil {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil && n < len(sentCalls) {
			sentCalls[n].FormError, sentCalls[n].FormErrorDetail = "it cannot run as it is: mend it, or leave it out",
				problem.Message
			if c := sentCalls[n]; c.CanOpen && c.ParamsForm == nil {
				c.addParamsForm(nil, nil)
			}
		}
	}
}

// Errors in a decision on a Plan, or on a Call.
const (
	ReasonMissingText   = "A rejection needs a reason: the process reads it and plans the rest again."
	UnknownDecisionText = "There is no such decision."
)

// ReadDecision completes a decision from the sent form; ok is false if it is invalid, or if somebody is only changing
// the Calls.
func (p *Page) ReadDecision(d *client.PlanDecision, values url.Values) (ok bool) {
	switch d.Kind {
	case client.Approve:
	case client.Reject:
		if d.Reason == "" {
			p.FormError = ReasonMissingText
		}
	case client.Amend:
		if p.NotAmendableReason != "" {
			p.FormError = p.NotAmendableReason
			return false
		}
		d.Calls = p.Read(values)
		if IsPageEditRequest(values) {
			p.FormError = ""
			return false
		}
	default:
		p.FormError = UnknownDecisionText
	}
	return p.FormError == ""
}
