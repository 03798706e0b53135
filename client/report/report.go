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
var files embed.FS

var page = newPage()

func newPage() *template.Template {
	return template.Must(template.New("report.html").Funcs(functions).ParseFS(files, "report.html"))
}

var functions = template.FuncMap{
	"quote": quote, "visible": readable.Visible, "clip": readable.Clip, "plural": readable.Plural,
	"stamp": readable.Stamp, "proof": Proof, "orders": Orders,
	"iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
}

// These constants bound the contents of a file.
const (
	maxDrawnCalls     = 300 // Calls of a Plan that is drawn; a larger Plan is not
	maxValuesPerState = 2000
	maxValues         = 200_000
	maxTextBytes      = 40 << 20 // bytes of the texts in States
)

// Report is what a process did.
type Report struct {
	Process         string
	Made            time.Time
	Check           *chain.Report
	Ideas           []Idea
	Picture         template.HTML
	Calls           int
	Decisions       []Decision
	Undone          []client.UndoneCall
	Steps           []string // the outcomes of the steps of instructions
	States          []State
	HiddenInstances int // instances whose State is not shown
	Output          *readable.Fact
	Quality         []string // the results of asking for answers twice
	Missing         string   // why the report of a broken chain is incomplete
}

// Idea is one Idea of the chain.
type Idea struct {
	chain.Link
	LLM, Cost string // the LLM that answered, and the cost of its answer
	Tokens    int    // of the answer
	Took      string // since the Idea before; empty for the first
}

// State is the State of one instance in the latest Idea.
type State struct {
	Name, Status string // the name is a token if people have given none
	Values       readable.Fact
}

// Write writes the report of a process as one HTML file. The error wraps client.ErrNotFound if the store has no Idea of
// it.
func Write(ctx context.Context, c *client.Chain, process string, w io.Writer) error {
	r, err := New(ctx, c, process)
	if err != nil {
		return err
	}
	var b bytes.Buffer // a buffer, so that half a file is never written
	if err := page.Execute(&b, r); err != nil {
		return fmt.Errorf("report: write %s: %w", process, err)
	}
	_, err = b.WriteTo(w)
	return err
}

// New reads all that Write needs about a process.
func New(ctx context.Context, c *client.Chain, process string) (*Report, error) {
	r := &Report{Process: readable.Visible(process), Made: time.Now()}
	links, err := c.Ideas(ctx)
	if err != nil {
		return nil, err
	}
	r.Ideas = Ideas(links)
	last := links[len(links)-1].At
	if r.Check, err = c.Verify(ctx); err != nil {
		return nil, err
	}
	err = r.addContents(ctx, c, last)
	if err != nil && !r.Check.IsIntact {
		// the report shows what is broken, and says that more could not be read because of it
		r.Missing, err = text(err.Error()), nil
	}
	return r, err
}

func (r *Report) addContents(ctx context.Context, c *client.Chain, last int) error {
	made, err := c.Decisions(ctx, last)
	if err != nil {
		return err
	}
	r.Decisions = Decisions(made)
	if r.Undone, err = c.UndoneCalls(ctx); err != nil {
		return err
	}
	plan, err := c.PlanWithStatus(ctx)
	if err != nil {
		return err
	}
	if r.Calls = len(plan.Calls); r.Calls > 0 && r.Calls <= maxDrawnCalls {
		// RenderSVG escapes the texts
		r.Picture = template.HTML(plangraph.RenderSVG(plan.Calls, plan.Statuses, plangraph.Labels{}))
	}
	return r.addStates(ctx, c, last)
}

// Ideas describes each Idea of a chain: how long it took, which LLM answered, and what that cost.
func Ideas(links []chain.Link) []Idea {
	all := make([]Idea, len(links))
	for n, l := range links {
		all[n] = newIdea(l)
		if n > 0 {
			all[n].Took = readable.Took(l.Created.Sub(links[n-1].Created))
		}
	}
	return all
}

func newIdea(l chain.Link) Idea {
	i, answer := Idea{Link: l}, jsonval.AsObject(l.LLM)
	if l.Request == 0 || answer == nil {
		return i
	}
	i.LLM = text(cmp.Or(jsonval.AsText(answer["served"]), jsonval.AsText(answer["model"])))
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

func (r *Report) addStates(ctx context.Context, c *client.Chain, last int) error {
	idea, err := c.Load(ctx, last)
	if err != nil {
		return err
	}
	authors, err := c.Authors(ctx, last)
	if err != nil {
		return err
	}
	if output := jsonval.At(idea, "solution", "output"); output != nil {
		f := builderOf(maxValuesPerState, maxTextBytes, nil).Build(output)
		r.Output = &f
	}
	r.Quality = quality.ReadReport(jsonval.AsObject(idea["meta"])).Lines()
	read, _ := ideafile.ReadIdeaWithCheckedTools(idea)
	for _, count := range ideafile.StepCountsOf(read.Context) {
		r.Steps = append(r.Steps, text(count.String()))
	}
	names := shown.WordsOf(read)
	states, statuses := client.StatesOf(idea), map[string]string{}
	for _, m := range read.Context {
		if status := jsonval.AsText(m.Source["_status"]); status != "" {
			statuses[m.InstanceToken] = status
		}
	}
	tokens := ideafiles.SortedTokens(states)
	values, bytes := maxValues, maxTextBytes
	for n, token := range tokens {
		if values <= 0 || bytes <= 0 {
			r.HiddenInstances = len(tokens) - n
			break
		}
		t := builderOf(min(maxValuesPerState, values), bytes, DescribeAuthors(authors, token))
		had := t.Left
		r.States = append(r.States, State{Name: text(names.NameOf(token)), Status: statuses[token],
			Values: t.BuildAt(nil, "", names.StateFormat(), states[token])})
		values, bytes = values-(had-t.Left), t.Bytes
	}
	return nil
}

// builderOf returns a FactBuilder for a report. A record is in one language and whole, whoever reads it.
func builderOf(left, bytes int, from func(jsonval.Path, any) string) *readable.FactBuilder {
	t := readable.NewFactBuilder(shown.English)
	t.Left, t.Bytes, t.From, t.ShowsHidden = left, bytes, from, true
	return t
}

// ByCall begins what FactBuilder.From returns for a value that a Call wrote; the Call's id and its Tool follow.
const ByCall = "by Call "

// DescribeAuthors describes who wrote the values of an instance's State, for a FactBuilder; empty if several wrote
// parts of a value, since each part then names its author.
func DescribeAuthors(authors *chain.Authors, token string) func(jsonval.Path, any) string {
	return func(path jsonval.Path, v any) string {
		by, entry, single := authors.AuthorOf(token, path)
		if len(path) == 0 || !single && holdsAny(v) {
			return ""
		}
		switch by {
		case chain.ByStart:
			return "from the beginning"
		case chain.ByUnknown:
			return "nobody knows by whom"
		}
		if name, is := entry.PersonName(); is {
			return "by " + text(name) + ", a person"
		}
		tool := ""
		if entry.Call.Tool != "" {
			tool = " " + entry.Call.Tool
		}
		return ByCall + text(by+tool)
	}
}

func holdsAny(v any) bool {
	for range jsonval.HeldValues(v) {
		return true
	}
	return false
}

// Proof says in words how people's decisions are proved.
func Proof(r *chain.Report) string {
	c := r.Decisions
	if c.Declared+c.Signed+c.Inherited == 0 {
		return "People decided on no Call."
	}
	s := fmt.Sprintf("People decided %s: %d under a name that was only stated, %d signed.",
		times(c.Declared+c.Signed), c.Declared, c.Signed)
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

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// quote quotes a name as one word of a command line.
func quote(s string) string {
	plain := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("._-@:/", r)
	}
	if s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Orders returns the decisions that give or end standing orders.
func Orders(all []Decision) []Decision {
	return jsonval.Filter(all, func(d Decision) bool { return d.Order })
}
