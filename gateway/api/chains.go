package api

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"processidea/client"
	"processidea/client/report"
	"processidea/model/check/plangraph"
	"processidea/model/jsonval"
	"processidea/store/chain"
)

func (a *API) addChainOperations() {
	const tag, processPath = "chain", "/api/processes/{id}/"
	addGet(a, tag, "list-ideas", processPath+"ideas", "List the Ideas of a process",
		"Lists the Ideas of a process's chain in order: when each was sealed, by which Request, and how much it holds.",
		func(ctx context.Context, in *ProcessTarget) (list IdeaList, err error) {
			list.Ideas, err = a.Client.Chain(in.ID).Ideas(ctx)
			return list, err
		})
	addGet(a, tag, "get-idea", processPath+"ideas/{k}", "Get an Idea",
		"Gives an Idea whole, as a file from which a process can start. k is its number, from 1, or latest.", a.getIdea)
	addGet(a, tag, "compare-ideas", processPath+"diff", "Compare two Ideas",
		"Tells how two Ideas differ: values, Calls, what people decided in between, and a JSON Patch (RFC 6902).",
		func(ctx context.Context, in *diffInput) (*client.Diff, error) {
			return a.Client.Chain(in.ID).Diff(ctx, in.From, in.To)
		})
	addGet(a, tag, "blame-value", processPath+"blame", "Find who wrote a value",
		"Tells which Call or person wrote a value of State, what was proposed and what was read for it.",
		func(ctx context.Context, in *blameInput) (*chain.Blame, error) {
			return a.Client.Chain(in.ID).Blame(ctx, in.Place, in.At)
		})
	addGet(a, tag, "draw-plan", processPath+"graph", "Draw the Plan of a process",
		"Draws the Plan that waits for a person. If none waits, it draws the Calls of the latest solution that "+
			"has any, or else of the Plan messages. The format is Mermaid, DOT (Graphviz) or SVG.", a.renderGraph)
	addGetOperation(a, huma.Operation{
		OperationID: "export-report", Path: processPath + "export.html",
		Summary: "Get what a process did, as one HTML file",
		Tags:    []string{tag},
		Description: "Gives one HTML file that opens anywhere, without a script and without loading anything: who " +
			"decided what and how that is proved, the Plan " +
			"as a picture, each instance's State with its authors, the Ideas with their digests, and how to check it.",
		Responses: map[string]*huma.Response{
			"200": {Description: "The file",
				Content: map[string]*huma.MediaType{"text/html": {Schema: &huma.Schema{Type: huma.TypeString}}}},
		},
	}, a.serveReport)
}

func (a *API) serveReport(ctx context.Context, in *ProcessTarget) (*huma.StreamResponse, error) {
	send, err := a.RenderReport(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		_, w := humago.Unwrap(hc)
		send(w)
	}}, nil
}

// RenderReport makes one HTML file of what a process did, and returns a function that sends it as a download. A browser
// may not show the file as a page here: it has a style of its own, which the policy of these pages forbids.
func (a *API) RenderReport(ctx context.Context, processID string) (send func(http.ResponseWriter), err error) {
	var b bytes.Buffer
	err = report.Write(ctx, a.Client.Chain(processID), processID, &b)
	dispositionParams := map[string]string{"filename": strings.ReplaceAll(processID, "/", "-") + ".html"}
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Language", "en") // a record is in one language, whoever asks for it
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", dispositionParams))
		_, _ = w.Write(b.Bytes())
	}, err
}

// IdeaList is the Ideas of a process.
type IdeaList struct {
	Ideas []chain.Link `json:"ideas" nullable:"false"`
}

type ideaInput struct {
	ProcessTarget
	K string `path:"k" pattern:"^([1-9][0-9]{0,8}|latest)$" doc:"the number of an Idea, from 1, or latest" example:"1"`
}

func (a *API) getIdea(ctx context.Context, in *ideaInput) (Object, error) {
	number, _ := strconv.Atoi(in.K) // 0 is the latest
	idea, err := a.Client.Chain(in.ID).Load(ctx, number)
	return Object{jsonval.Encode(idea)}, err
}

type diffInput struct {
	ProcessTarget
	From int `query:"from" required:"true" minimum:"1" doc:"the number of an Idea"`
	To   int `query:"to" required:"true" minimum:"1" doc:"the number of another"`
}

type blameInput struct {
	ProcessTarget
	Place string `query:"place" required:"true" doc:"TOKEN:path, such as ①:user.name, or user.name in the anonymous instance" example:"①:user.name"`
	At    int    `query:"at" minimum:"1" doc:"as this Idea shows it; absent: the latest"`
}

type graphInput struct {
	ProcessTarget
	Format string `query:"format" default:"mermaid" enum:"mermaid,dot,svg"`
	Digest string `query:"digest" doc:"the digest of a Plan that waits: a split process may have several"`
}

// Graph is a Plan that was drawn.
type Graph struct {
	Format        string `json:"format" enum:"mermaid,dot,svg"`
	Source        string `json:"graph" doc:"the text, in the language of format"`
	CallCount     int    `json:"calls" doc:"how many there are; with none the graph is empty"`
	IsPendingPlan bool   `json:"waiting" doc:"the Plan waits for a person, and nothing of it has begun"`
}

// waitingPlansTimeout bounds how long a drawing waits to learn which Plans wait. Without an answer, it draws what the
// store has.
const waitingPlansTimeout = 3 * time.Second

func (a *API) renderGraph(ctx context.Context, in *graphInput) (out Graph, err error) {
	out.Format = in.Format
	drawablePlan := &client.DrawablePlan{}
	plansCtx, cancel := context.WithTimeout(ctx, waitingPlansTimeout)
	defer cancel()
	waitingPlans, err := a.WaitingPlansIn(plansCtx, in.ID)
	if err != nil && in.Digest != "" {
		return out, err
	}
	planIndex := slices.IndexFunc(waitingPlans, func(p client.DescribedPlan) bool {
		return in.Digest == "" ||
			p.Digest == in.Digest
	})
	switch {
	case planIndex >= 0:
		drawablePlan.Calls, out.IsPendingPlan = waitingPlans[planIndex].DiagramCalls, true
	case in.Digest != "":
		return out, newProblem(http.StatusNotFound, CodeNotFound, "no Plan with this digest waits in "+in.ID)
	default: // the store may have Ideas of a process that Temporal does not know
		if drawablePlan, err = a.Client.Chain(in.ID).PlanWithStatus(ctx); err != nil {
			return out, err
		}
	}
	switch out.CallCount = len(drawablePlan.Calls); in.Format {
	case "dot":
		out.Source = plangraph.RenderDOT(drawablePlan.Calls, drawablePlan.InstanceCountsByStatus...)
	case "svg":
		out.Source = plangraph.RenderSVG(drawablePlan.Calls, drawablePlan.InstanceCountsByStatus, plangraph.Labels{},
			plangraph.Light)
	default:
		out.Source = plangraph.RenderMermaid(drawablePlan.Calls, drawablePlan.InstanceCountsByStatus...)
	}
	return out, nil
}
