package planpage

import (
	"fmt"
	"slices"
	"strings"

	"processidea/client"
	"processidea/client/readable"
	"processidea/gateway/desk/form"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

const (
	// MaxShownCalls is how many Calls a page shows, and lets people change.
	MaxShownCalls     = 500
	maxInstanceNames  = 12 // instances of a Call that are named
	maxToolTitleChars = 2000
)

// Page shows a Plan that waits.
type Page struct {
	Plan client.DescribedPlan
	// Calls are the Calls of the Plan, AddedCalls those that somebody adds.
	Calls      []*Call
	AddedCalls []*Call
	// NotAmendableReason is why the Calls cannot be changed here; empty: they can be.
	NotAmendableReason   string
	IsLaterReviewUnknown bool // it is unknown about which Calls a person will be asked again

	DenialReason      string // why this person may not decide; empty: they may
	FormError         string // the error in the form
	FormErrorDecision string // the decision with the error
	HasChanged        bool   // the Plan has changed since it was shown
	Reason            string
	IsAmending        bool // somebody changes Calls

	Tools []*ideafile.Tool // the known ones of its process

	paramsFormFor func(*ideafile.Tool) form.Form
	labels        plangraph.Labels
	edges         []plangraph.Edge // in words

	language shown.Language
}

// Call is a row of the page.
type Call struct {
	Number           int // its place in the Plan, or among the added Calls, from 1
	ID, Tool         string
	Title            string // of the Tool
	InstanceNames    string
	Params           []readable.Fact
	HiddenParamsText string // how many parameters are not shown
	Reads            []string
	Writes           string
	ReviewText       string // whether a person will be asked about it again
	EffectText       string // its effect outside
	Error            string // a known reason why it will fail
	FormError        string // the error in the Call as it was sent
	// FormErrorDetail is what the process says of the Call as it was sent, for operators.
	FormErrorDetail string
	IsKept          bool
	CanOpen         bool
	// ParamsForm is the form that changes the parameters, and RestJSON is the rest of the Call as JSON; nil ParamsForm:
	// the Call is not being changed.
	ParamsForm *form.Field
	RestJSON   string
	// JSON is an added Call as it was written.
	JSON string

	originalCall    any
	amendableParams jsonval.Object // the parameters that a form changes
	form            form.Form
}

// New shows a Plan. tools are the known Tools of its process, labels are the names that people use there, and
// paramsFormFor makes the form of a Tool's Call.
func New(plan client.DescribedPlan, tools []*ideafile.Tool, labels plangraph.Labels, l shown.Language,
	paramsFormFor func(*ideafile.Tool) form.Form) *Page {
	p := &Page{Plan: plan, NotAmendableReason: plan.NotAmendableReason,
		IsLaterReviewUnknown: plan.LaterApprovals == nil, paramsFormFor: paramsFormFor, Tools: tools, labels: labels,
		edges: plangraph.ListEdges(plan.DiagramCalls, labels), language: l}
	if len(plan.Calls) > MaxShownCalls && p.NotAmendableReason == "" {
		p.NotAmendableReason = fmt.Sprintf(
			"The Plan has %d steps, too many to change on this page. Operators can: by starter amend-plan.",
			len(plan.Calls))
	}
	for n := range plan.Calls[:min(len(plan.Calls), MaxShownCalls)] {
		p.Calls = append(p.Calls, p.newCall(n))
	}
	for n, c := range p.Calls[:min(len(p.Calls), len(plan.DiagramCalls))] {
		c.Writes = readable.VisibleText(labels.DescribeWrites(plan.DiagramCalls[n]))
	}
	return p
}

// LaterReview says of which Calls a person is asked again before they run: "all", "none", "some", or "" if that is
// unknown.
func (p *Page) LaterReview() string {
	isCertain := func(a client.LaterApproval) bool { return a.Certainty == client.AskedAlways }
	switch list := p.Plan.LaterApprovals; {
	case list == nil:
		return ""
	case len(list) == 0:
		return "none"
	case len(list) == len(p.Plan.Calls) && !slices.ContainsFunc(list,
		func(a client.LaterApproval) bool { return !isCertain(a) }):
		return "all"
	}
	return "some"
}

// HiddenCount is how many Calls are not shown.
func (p *Page) HiddenCount() int { return len(p.Plan.Calls) - len(p.Calls) }

func (p *Page) newCall(n int) *Call {
	plannedCall := p.Plan.Calls[n]
	raw := plannedCall.WrittenCall.RawObject()
	c := &Call{
		Number: n + 1, ID: plannedCall.CallID, Tool: plannedCall.WrittenCall.Tool,
		Title:         p.labels.Presenter.ToolTitle(plannedCall.WrittenCall.Tool),
		InstanceNames: p.instanceNames(plannedCall.Instances), Error: plannedCall.Error,
		IsKept: true, originalCall: plannedCall.WrittenCall.AsWritten(),
		CanOpen: raw != nil, amendableParams: jsonval.AsObject(jsonschema.WithoutMetaKeys(raw)),
	}
	tool := ideafile.FindTool(p.Tools, c.Tool)
	c.EffectText = effectText(tool)
	builder := readable.NewFactBuilder(p.language)
	fields := builder.BuildAt(nil, "", p.labels.Presenter.ParamsFormat(c.Tool),
		jsonval.ToJSONValue(p.labels.ParamsInWords(raw)))
	if c.Params = fields.Facts; fields.HiddenCount > 0 {
		c.HiddenParamsText = readable.Plural(fields.HiddenCount, "other value")
	}
	c.Reads = p.describeReads(n + 1)
	index := slices.IndexFunc(p.Plan.LaterApprovals, func(a client.LaterApproval) bool { return a.CallID == c.ID })
	switch {
	case index >= 0 && p.Plan.LaterApprovals[index].Certainty == client.AskedAlways:
		c.ReviewText = "a person is asked again"
	case index >= 0:
		c.ReviewText = "a person may be asked again, depending on its values"
	}
	if tool != nil {
		c.form = p.paramsFormFor(tool)
	}
	c.form.ControlPrefix = fmt.Sprintf("c%d", c.Number)
	return c
}

// describeReads lists what a Call reads and waits for.
func (p *Page) describeReads(callNumber int) (list []string) {
	for _, e := range p.edges {
		if e.ToCallNumber != callNumber {
			continue
		}
		sourceText := readable.VisibleText(readable.Clip(e.GivenValueLabel, readable.MaxTextBytes))
		if e.FromCallNumber > 0 && e.FromCallNumber <= len(p.Plan.Calls) {
			fromCall := p.Plan.Calls[e.FromCallNumber-1]
			title := readable.Clip(p.labels.Presenter.ToolTitle(fromCall.WrittenCall.Tool), maxToolTitleChars)
			sourceText = "step " + fromCall.CallID + " " + readable.VisibleText(title)
		}
		switch e.Kind {
		case plangraph.EdgeReads:
			if e.PathsLabel != "" {
				sourceText = readable.VisibleText(e.PathsLabel) + " of " + sourceText
			}
		case plangraph.EdgeAfter:
			sourceText = "nothing, but runs after " + sourceText
		case plangraph.EdgeCondition:
			sourceText = sourceText + ", in its condition"
		case plangraph.EdgeAlternative:
			sourceText = "nothing, but writes where " + sourceText + " does: whichever is first"
		}
		list = append(list, sourceText)
	}
	return list
}

// instanceNames lists instances by their names, at most maxInstanceNames of them.
func (p *Page) instanceNames(tokens []string) string {
	names := jsonval.Map(tokens[:min(len(tokens), maxInstanceNames)], p.labels.Presenter.KnownInstanceName)
	text := readable.VisibleText(strings.Join(names, ", "))
	if more := len(tokens) - maxInstanceNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// effectText describes what a Call of a Tool does.
func effectText(t *ideafile.Tool) string {
	if t == nil {
		return "Nothing of this name is known here."
	}
	text := "Its result is written, unless there is a program of this name."
	switch a := t.RawActivity.(type) {
	case string:
		text = "It runs the program " + readable.VisibleText(a) + "."
	case jsonval.Object:
		text = "It is run by " + readable.VisibleText(strings.Join(jsonval.SortedKeys(a), ", ")) + "."
		if _, isHTTP := a[string(ideafile.KindHTTP)]; isHTTP {
			text = "It sends a request to another system."
		} else if _, isMCP := a[string(ideafile.KindMCP)]; isMCP {
			text = "It has another program do it."
		}
	}
	if t.DelegateFile != "" {
		text = "It starts a process of its own, which plans for itself."
	}
	if t.MaxAttempts == 1 {
		text += " It is never run twice."
	}
	return text
}
