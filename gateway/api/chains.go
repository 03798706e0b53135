package api

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"processidea/client"
	"processidea/client/report"
	"processidea/gateway/access"
	"processidea/model/check/plangraph"
	"processidea/model/jsonval"
	"processidea/store/chain"
)

func (a *API) addChains() {
	chains, none := []string{"chain"}, []int{http.StatusNotFound}
	operation(a, access.Look, huma.Operation{
		OperationID: "list-ideas", Method: http.MethodGet, Path: "/api/processes/{id}/ideas", Summary: "List the Ideas of a process", Tags: chains, Errors: none,
		Description: "Lists the Ideas of a process's chain in order: when each was sealed, by which Request, and how much it holds.",
	}, a.ideas)
	operation(a, access.Look, huma.Operation{
		OperationID: "get-idea", Method: http.MethodGet, Path: "/api/processes/{id}/ideas/{k}", Summary: "Get an Idea", Tags: chains, Errors: none,
		Description: "Gives an Idea whole, as a file from which a process can start. k is its number, from 1, or latest.",
	}, a.idea)
	operation(a, access.Look, huma.Operation{
		OperationID: "compare-ideas", Method: http.MethodGet, Path: "/api/processes/{id}/diff", Summary: "Compare two Ideas", Tags: chains, Errors: none,
		Description: "Tells how two Ideas differ: values, Calls, what people decided in between, and a JSON Patch (RFC 6902).",
	}, a.diff)
	operation(a, access.Look, huma.Operation{
		OperationID: "blame-value", Method: http.MethodGet, Path: "/api/processes/{id}/blame", Summary: "Find who wrote a value", Tags: chains, Errors: none,
		Description: "Tells which Call or person wrote a value of State, what was proposed and what was read for it.",
	}, a.blame)
	operation(a, access.Look, huma.Operation{
		OperationID: "draw-plan", Method: http.MethodGet, Path: "/api/processes/{id}/graph", Summary: "Draw the Plan of a process", Tags: chains, Errors: none,
		Description: "Draws the Plan that waits for a person, where one does; else the Calls of the latest solution that has any, or else of the Plan messages. " +
			"It is text: Mermaid, DOT, the language of Graphviz, or SVG.",
	}, a.graph)
	operation(a, access.Look, huma.Operation{
		OperationID: "export-report", Method: http.MethodGet, Path: "/api/processes/{id}/export.html", Summary: "Get what a process did, as one HTML file",
		Tags: chains, Errors: none,
		Description: "Gives one HTML file that opens anywhere, without a script and without loading anything: who decided what and how that is proved, the Plan " +
			"as a picture, each instance's State with its authors, the Ideas with their digests, and how to check it.",
		Responses: map[string]*huma.Response{
			"200": {Description: "The file", Content: map[string]*huma.MediaType{"text/html": {Schema: &huma.Schema{Type: huma.TypeString}}}},
		},
	}, a.report)
}

func (a *API) report(ctx context.Context, in *Target) (*huma.StreamResponse, error) {
	var b bytes.Buffer
	if err := a.Report(ctx, in.ID, &b); err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		_, w := humago.Unwrap(hc)
		SendReport(w, in.ID, b.Bytes())
	}}, nil
}

// Report writes what a process did as one HTML file.
func (a *API) Report(ctx context.Context, id string, w io.Writer) error {
	return report.Write(ctx, a.Client.Chain(id), id, w)
}

// SendReport answers with the file. A browser keeps it, and does not show it here: it has a style of its own, which pages from here may not have.
func SendReport(w http.ResponseWriter, id string, file []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": strings.ReplaceAll(id, "/", "-") + ".html"}))
	_, _ = w.Write(file)
}

// IdeaList is the Ideas of a process.
type IdeaList struct {
	Ideas []chain.Link `json:"ideas" nullable:"false"`
}

func (a *API) ideas(ctx context.Context, in *Target) (*struct{ Body IdeaList }, error) {
	links, err := a.Client.Chain(in.ID).Ideas(ctx)
	if err != nil {
		return nil, err
	}
	return &struct{ Body IdeaList }{IdeaList{links}}, nil
}

type ideaInput struct {
	Target
	K string `path:"k" pattern:"^([1-9][0-9]{0,8}|latest)$" doc:"the number of an Idea, from 1, or latest" example:"1"`
}

func (a *API) idea(ctx context.Context, in *ideaInput) (*struct{ Body Object }, error) {
	k, _ := strconv.Atoi(in.K) // 0 is the latest
	idea, err := a.Client.Chain(in.ID).Load(ctx, k)
	if err != nil {
		return nil, err
	}
	return &struct{ Body Object }{jsonval.Encode(idea)}, nil
}

type diffInput struct {
	Target
	From int `query:"from" required:"true" minimum:"1" doc:"the number of an Idea"`
	To   int `query:"to" required:"true" minimum:"1" doc:"the number of another"`
}

func (a *API) diff(ctx context.Context, in *diffInput) (*struct{ Body *client.Diff }, error) {
	d, err := a.Client.Chain(in.ID).Diff(ctx, in.From, in.To)
	if err != nil {
		return nil, err
	}
	return &struct{ Body *client.Diff }{d}, nil
}

type blameInput struct {
	Target
	Place string `query:"place" required:"true" doc:"TOKEN:path, such as ①:user.name, or user.name in the anonymous instance" example:"①:user.name"`
	At    int    `query:"at" minimum:"1" doc:"as this Idea shows it; absent: the latest"`
}

func (a *API) blame(ctx context.Context, in *blameInput) (*struct{ Body *chain.Blame }, error) {
	b, err := a.Client.Chain(in.ID).Blame(ctx, in.Place, in.At)
	if err != nil {
		return nil, err
	}
	return &struct{ Body *chain.Blame }{b}, nil
}

type graphInput struct {
	Target
	Format string `query:"format" default:"mermaid" enum:"mermaid,dot,svg"`
	Digest string `query:"digest" doc:"that of a Plan that waits: of a process that is split there may be several"`
}

// Graph is a Plan that was drawn.
type Graph struct {
	Format  string `json:"format" enum:"mermaid,dot,svg"`
	Graph   string `json:"graph" doc:"the text, in the language of format"`
	Calls   int    `json:"calls" doc:"how many there are; with none the graph is empty"`
	Waiting bool   `json:"waiting" doc:"it is a Plan that waits for a person, of which nothing has begun"`
}

// plansTime is how long a drawing waits to hear which Plans wait: where nobody answers, what is in the store is drawn.
const plansTime = 3 * time.Second

func (a *API) graph(ctx context.Context, in *graphInput) (*struct{ Body Graph }, error) {
	out := Graph{Format: in.Format}
	drawing := &client.PlanDrawing{}
	soon, cancel := context.WithTimeout(ctx, plansTime)
	defer cancel()
	list, err := a.PlansOf(soon, in.ID)
	if err != nil && in.Digest != "" {
		return nil, err
	}
	drawing.Calls, out.Waiting = waitingPlan(list, in.Digest)
	switch {
	case out.Waiting:
	case in.Digest != "":
		return nil, problem(http.StatusNotFound, CodeNotFound, "no Plan with that digest waits in "+in.ID)
	default: // of a process that Temporal does not know the store may have Ideas
		if drawing, err = a.Client.Chain(in.ID).PlanWithStatus(ctx); err != nil {
			return nil, err
		}
	}
	switch out.Calls = len(drawing.Calls); in.Format {
	case "dot":
		out.Graph = plangraph.RenderDOT(drawing.Calls)
	case "svg":
		out.Graph = plangraph.RenderSVG(drawing.Calls, drawing.Statuses)
	default:
		out.Graph = plangraph.RenderMermaid(drawing.Calls)
	}
	return &struct{ Body Graph }{out}, nil
}
