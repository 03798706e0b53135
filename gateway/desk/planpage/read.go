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
	keepName  = "keep"  // the numbers of the Calls that stay
	openName  = "open"  // the numbers of the Calls that are changed
	editName  = "edit"  // the button that opens a Call; its value is the number
	addedName = "added" // Calls that are added, as JSON
	newName   = "new"   // the next Call to add, as JSON
	restMark  = "-rest" // suffix of the prefix of a Call's form: the rest of the Call
)

// IsEditing reports whether the sent form only asks for a change of the page, and decides on nothing.
func IsEditing(values url.Values) bool {
	return values.Get(editName) != "" || values.Get("do") == "add" || form.IsAdding(values)
}

// Read applies the sent form to the Calls, and returns all Calls of the Plan as it is to run. If Wrong is set, on the
// page or on a Call, they are invalid.
func (p *Page) Read(values url.Values) (calls []any) {
	p.Amending = true
	changed := false
	for _, c := range p.Calls {
		number := strconv.Itoa(c.Number)
		c.Kept = slices.Contains(values[keepName], number)
		written := c.written
		if slices.Contains(values[openName], number) && c.CanOpen {
			written = p.readOpen(c, values)
		} else if values.Get(editName) == number && c.CanOpen {
			c.open(nil, nil)
		}
		if !c.Kept {
			changed = true
			continue
		}
		changed = changed || !jsonval.Equal(written, c.written)
		calls = append(calls, written)
	}
	added := p.readAdded(values)
	if IsEditing(values) {
		return nil
	}
	calls = append(calls, added...)
	switch {
	case p.Wrong != "":
	case len(calls) == 0:
		p.Wrong = "No step is left. To run none of them, reject the Plan."
	case !changed && len(added) == 0:
		p.Wrong = "Nothing is changed. To run it as it is, approve it."
	}
	return calls
}

// open adds the fields of a Call, with its own values or with those that were entered.
func (c *Call) open(values url.Values, wrong map[string]string) {
	if c.Fields = c.form.New(c.params, true); values != nil {
		c.Fields = c.form.FromEntered(c.params, true, values, wrong)
		c.Rest = strings.ReplaceAll(values.Get(c.form.Prefix+restMark), "\r\n", "\n")
		return
	}
	rest := maps.Clone(jsonval.AsObject(c.written))
	maps.DeleteFunc(rest, func(key string, _ any) bool { return !strings.HasPrefix(key, "_") || key == "_tool" })
	c.Rest = form.Pretty(jsonval.ToJSONValue(rest))
}

// readOpen reads a Call whose fields are open.
func (p *Page) readOpen(c *Call, values url.Values) any {
	v, wrong := c.form.Read(c.params, values)
	c.open(values, wrong)
	call, isObject := v.(jsonval.Object)
	rest, err := jsonval.DecodeObject([]byte(c.Rest))
	switch {
	case form.IsAdding(values):
		return c.written
	case len(wrong) > 0:
		c.Wrong = "some fields do not fit yet: each says why"
	case !isObject:
		c.Wrong = "the values of a step must be an object"
	case err != nil:
		c.Wrong = "the rest of the step is not a JSON object: " + ideafiles.DecodeCause(err)
	}
	for key := range rest {
		if !strings.HasPrefix(key, "_") || key == "_tool" {
			c.Wrong = fmt.Sprintf("%q may not be here: what it does and its values are above", key)
		}
	}
	if c.Wrong != "" {
		if c.Kept {
			p.Wrong = "Step " + c.ID + " does not fit yet: see the message beside it."
		}
		return c.written
	}
	out := jsonval.Object{"_tool": c.Tool}
	maps.Copy(out, call)
	maps.Copy(out, rest)
	return out
}

// readAdded reads the added Calls and skips empty ones.
func (p *Page) readAdded(values url.Values) (calls []any) {
	texts := slices.Clone(values[addedName])
	if next := values.Get(newName); strings.TrimSpace(next) != "" {
		texts = append(texts, next)
	}
	for _, text := range texts {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		if strings.TrimSpace(text) == "" {
			continue
		}
		c := &Call{Number: len(p.Added) + 1, JSON: text}
		p.Added = append(p.Added, c)
		call, err := jsonval.DecodeObject([]byte(text))
		c.Tool, _ = call["_tool"].(string)
		switch {
		case err != nil:
			c.Wrong = `want a JSON object, such as {"_tool": "tell", "text": "†state.text"}: ` +
				ideafiles.DecodeCause(err)
		case c.Tool == "":
			c.Wrong = `it does not say what to do: "_tool" is missing`
		case len(p.tools) > 0 && ideafile.FindTool(p.tools, c.Tool) == nil:
			c.Wrong = "there is no step of the kind " + c.Tool
		}
		if c.Wrong != "" {
			p.Wrong = "A step that you add is invalid: see the message beside it."
		}
		calls = append(calls, any(call))
	}
	return calls
}

// callIndex matches the place by which a problem names a Call.
var callIndex = regexp.MustCompile(`calls\[([0-9]+)\]$`)

// ShowProblems shows the problems that the process found, each beside the Call that was sent.
func (p *Page) ShowProblems(problems []api.Place) {
	sent := append(jsonval.Filter(p.Calls, func(c *Call) bool { return c.Kept }), p.Added...)
	for _, at := range problems {
		m := callIndex.FindStringSubmatch(at.Path)
		if m == nil {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil && n < len(sent) {
			sent[n].Wrong, sent[n].WrongDetail = "it cannot run as it is: mend it, or leave it out", at.Message
			if c := sent[n]; c.CanOpen && c.Fields == nil {
				c.open(nil, nil)
			}
		}
	}
}

// Errors in a decision on a Plan, or on a Call.
const (
	NeedsReason = "A rejection needs a reason: it is read, and the rest is planned anew."
	NoDecision  = "There is no such decision."
)

// Take completes a decision from the sent form; ok is false if it is invalid, or if somebody is only changing the
// Calls.
func (p *Page) Take(d *client.PlanDecision, values url.Values) (ok bool) {
	switch d.Kind {
	case client.Approve:
	case client.Reject:
		if d.Reason == "" {
			p.Wrong = NeedsReason
		}
	case client.Amend:
		if p.NotAmendable != "" {
			p.Wrong = p.NotAmendable
			return false
		}
		d.Calls = p.Read(values)
		if IsEditing(values) {
			p.Wrong = ""
			return false
		}
	default:
		p.Wrong = NoDecision
	}
	return p.Wrong == ""
}
