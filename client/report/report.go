package report

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/readable"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/ideafile/price"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/quality"
	"processidea/store/chain"
)

//go:embed report.html
var templateFiles embed.FS

var reportTemplate = parseTemplate()

func parseTemplate() *template.Template {
	return template.Must(template.New("report.html").Funcs(templateFuncs).ParseFS(templateFiles, "report.html"))
}

var templateFuncs = template.FuncMap{
	"quote": shellQuote, "visible": readable.VisibleText, "clip": readable.Clip, "plural": readable.Plural,
	"stamp": readable.TimestampText, "proof": ProofSummary, "orders": FilterOrderDecisions,
	"iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
}

// These constants bound the contents of a file.
const (
	maxDrawnCalls     = 300 // Calls of a Plan that is drawn; a larger Plan is not
	maxValuesPerState = 2000
	maxTotalValues    = 200_000
	maxTotalTextBytes = 40 << 20 // bytes of the texts in States
)

// Report is what a process did.
type Report struct {
	Process             string
	MadeAt              time.Time
	Check               *chain.Report
	Ideas               []Idea
	Picture             template.HTML
	CallCount           int
	Decisions           []Decision
	UndoneCalls         []client.UndoneCall
	StepOutcomes        []string // the outcomes of the steps of instructions
	States              []State
	HiddenInstanceCount int // instances whose State is not shown
	Output              *readable.Fact
	Quality             []string // the results of asking for answers twice
	MissingReason       string   // why the report of a broken chain is incomplete
}

// Idea is one Idea of the chain.
type Idea struct {
	chain.Link
	LLM, Cost string // the LLM that answered, and the cost of its answer
	Tokens    int    // of the answer
	Elapsed   string // since the Idea before; empty for the first
}

// State is the State of one instance in the latest Idea.
type State struct {
	Name, Status string // the name is a token if people have given none
	Values       readable.Fact
}

// Write writes the report of a process as one HTML file. The error wraps client.ErrNotFound if the store has no Idea of
// it.
func Write(ctx context.Context, c *client.Chain, processID string, w io.Writer) error {
	r, err := New(ctx, c, processID)
	if err != nil {
		return err
	}
	var b bytes.Buffer // a buffer, so that half a file is never written
	if err := reportTemplate.Execute(&b, r); err != nil {
		return fmt.Errorf("report: write %s: %w", processID, err)
	}
	_, err = b.WriteTo(w)
	return err
}

// New reads all that Write needs about a process.
func New(ctx context.Context, c *client.Chain, processID string) (*Report, error) {
	r := &Report{Process: readable.VisibleText(processID), MadeAt: time.Now()}
	links, err := c.Ideas(ctx)
	if err != nil {
		return nil, err
	}
	r.Ideas = DescribeIdeas(links)
	lastIdeaNumber := links[len(links)-1].IdeaNumber
	if r.Check, err = c.Verify(ctx); err != nil {
		return nil, err
	}
	err = r.addContents(ctx, c, lastIdeaNumber)
	if err != nil && !r.Check.IsIntact {
		// the report shows what is broken, and says that more could not be read because of it
		r.MissingReason, err = clipText(err.Error()), nil
	}
	return r, err
}

func (r *Report) addContents(ctx context.Context, c *client.Chain, lastIdeaNumber int) error {
	decisions, err := c.Decisions(ctx, lastIdeaNumber)
	if err != nil {
		return err
	}
	r.Decisions = DescribeDecisions(decisions)
	if r.UndoneCalls, err = c.UndoneCalls(ctx); err != nil {
		return err
	}
	plan, err := c.PlanWithStatus(ctx)
	if err != nil {
		return err
	}
	if r.CallCount = len(plan.Calls); r.CallCount > 0 && r.CallCount <= maxDrawnCalls {
		// RenderSVG escapes the texts
		r.Picture = template.HTML(plangraph.RenderSVG(plan.Calls, plan.InstanceCountsByStatus, plangraph.Labels{},
			plangraph.Light))
	}
	return r.addStates(ctx, c, lastIdeaNumber)
}

// DescribeIdeas describes each Idea of a chain: how long it took, which LLM answered, and what that cost.
func DescribeIdeas(links []chain.Link) []Idea {
	all := make([]Idea, len(links))
	for n, l := range links {
		all[n] = newIdea(l)
		if n > 0 {
			all[n].Elapsed = readable.ElapsedText(l.Created.Sub(links[n-1].Created))
		}
	}
	return all
}

func newIdea(l chain.Link) Idea {
	i, answer := Idea{Link: l}, jsonval.AsObject(l.LLM)
	if l.Request == 0 || answer == nil {
		return i
	}
	i.LLM = clipText(cmp.Or(jsonval.AsText(answer["served"]), jsonval.AsText(answer["model"])))
	for _, key := range []string{"promptTokens", "completionTokens"} {
		count, _ := jsonval.ReadPositiveInt(answer[key])
		i.Tokens += count
	}
	var cost price.Money
	if n, ok := answer["cost"].(json.Number); ok && cost.UnmarshalJSON([]byte(n)) == nil {
		i.Cost = cost.String()
	}
	return i
}

func (r *Report) addStates(ctx context.Context, c *client.Chain, lastIdeaNumber int) error {
	idea, err := c.Load(ctx, lastIdeaNumber)
	if err != nil {
		return err
	}
	authors, err := c.Authors(ctx, lastIdeaNumber)
	if err != nil {
		return err
	}
	if output := jsonval.Lookup(idea, "solution", "output"); output != nil {
		f := newFactBuilder(maxValuesPerState, maxTotalTextBytes, nil).Build(output)
		r.Output = &f
	}
	r.Quality = quality.ReadReport(jsonval.AsObject(idea["meta"])).Lines()
	parsedIdea, _ := ideafile.ReadIdeaWithoutCheckingTools(idea)
	for _, count := range ideafile.CountStepOutcomes(parsedIdea.Context) {
		r.StepOutcomes = append(r.StepOutcomes, clipText(count.String()))
	}
	presenter := shown.NewPresenter(parsedIdea)
	states, statusByInstance := client.InstanceStatesOf(idea), map[string]string{}
	for _, m := range parsedIdea.Context {
		if status := jsonval.AsText(m.Source["_status"]); status != "" {
			statusByInstance[m.InstanceToken] = status
		}
	}
	tokens := ideafiles.SortedInstanceTokens(states)
	valuesLeft, bytesLeft := maxTotalValues, maxTotalTextBytes
	for n, token := range tokens {
		if valuesLeft <= 0 || bytesLeft <= 0 {
			r.HiddenInstanceCount = len(tokens) - n
			break
		}
		builder := newFactBuilder(min(maxValuesPerState, valuesLeft), bytesLeft, DescribeAuthors(authors, token))
		factsBefore := builder.FactsLeft
		r.States = append(r.States, State{Name: clipText(presenter.KnownInstanceName(token)),
			Status: statusByInstance[token],
			Values: builder.BuildAt(nil, "", presenter.StateFormat(), states[token])})
		valuesLeft, bytesLeft = valuesLeft-(factsBefore-builder.FactsLeft), builder.BytesLeft
	}
	return nil
}

// newFactBuilder returns a FactBuilder for a report. A record is in one language and whole, whoever reads it.
func newFactBuilder(maxFacts, maxBytes int, originOf func(jsonval.Path, any) string) *readable.FactBuilder {
	builder := readable.NewFactBuilder(shown.English)
	builder.FactsLeft, builder.BytesLeft, builder.OriginOf, builder.ShowsHidden = maxFacts, maxBytes, originOf, true
	return builder
}

// ByCallPrefix begins what FactBuilder.From returns for a value that a Call wrote; the Call's id and its Tool follow.
const ByCallPrefix = "by Call "

// DescribeAuthors describes who wrote the values of an instance's State, for a FactBuilder; empty if several wrote
// parts of a value, since each part then names its author.
func DescribeAuthors(authors *chain.AuthorFinder, instanceToken string) func(jsonval.Path, any) string {
	return func(path jsonval.Path, v any) string {
		writer, entry, isSingle := authors.AuthorOf(instanceToken, path)
		if len(path) == 0 || !isSingle && hasMembers(v) {
			return ""
		}
		switch writer {
		case chain.AuthorStart:
			return "from the beginning"
		case chain.AuthorUnknown:
			return "nobody knows by whom"
		}
		if name, isPerson := entry.PersonName(); isPerson {
			return "by " + clipText(name) + ", a person"
		}
		tool := ""
		if entry.AuthorCall.Tool != "" {
			tool = " " + entry.AuthorCall.Tool
		}
		return ByCallPrefix + clipText(writer+tool)
	}
}

func hasMembers(v any) bool {
	for range jsonval.ChildValues(v) {
		return true
	}
	return false
}

// ProofSummary says in words how people's decisions are proved.
func ProofSummary(r *chain.Report) string {
	c := r.Decisions
	if c.Declared+c.Signed+c.Inherited == 0 {
		return "People decided on no Call."
	}
	s := fmt.Sprintf("People decided %s: %d under a name that was only stated, %d signed.",
		timesText(c.Declared+c.Signed), c.Declared, c.Signed)
	if c.Inherited > 0 {
		s += fmt.Sprintf(" %s from the processes that it was forked from.", readable.Plural(c.Inherited, "proof"))
	}
	switch {
	case c.Signed == 0:
	case c.Proven < c.Signed:
		s += " Each proof was compared with its decision. The signatures were not checked, because no keys are " +
			"given here."
	default:
		s += " Every signature was checked again, and is right."
	}
	return s
}

func timesText(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// shellQuote quotes a name as one word of a command line.
func shellQuote(s string) string {
	isPlain := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("._-@:/", r)
	}
	if s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool { return !isPlain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// FilterOrderDecisions returns the decisions that give or end standing orders.
func FilterOrderDecisions(all []Decision) []Decision {
	return jsonval.Filter(all, func(d Decision) bool { return d.IsOrderDecision })
}
