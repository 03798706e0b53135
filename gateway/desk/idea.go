package desk

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/report"
	"processidea/gateway/api"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/store/chain"
	"processidea/store/ideadiff"
)

const maxShownChanges = 200 // that a page shows

type ideaPage struct {
	frame
	IdeaNumber, LastNumber int
	Link                   chain.Link
	Instance               string
	InstanceName           string
	States                 []instanceState
	HiddenInstanceCount    int // instances that are not shown
	Changes                []changeRow
	HiddenChangeCount      int // changes that are not shown
	Decisions              []report.Decision
	SinceNumber            int // the Idea with which it is compared

	EarlierHref, LaterHref string // the addresses of the Ideas before and after; empty: none
	presenter              *shown.Presenter
	labels                 plangraph.Labels
	language               shown.Language
}

type instanceState struct {
	Token string
	Name  string // its name for people; without one, its token
	Href  string
	State fact
}

type changeRow struct {
	Instance, Kind, Path, From, To string
	IsRawPath                      bool // people have no name for the place Path
}

// showIdea shows the past of a process: State as it was in an Idea, and what had changed since an earlier Idea.
func (v *visit) showIdea() error {
	id, q := v.processID, v.URL.Query()
	latest, err := v.Client.Chain(id).Link(v.Context(), 0)
	if err != nil {
		return err
	}
	p := ideaPage{frame: v.processFrame("The record"), LastNumber: latest.IdeaNumber, Instance: q.Get("instance")}
	p.labels, p.language = v.planLabels(id), client.LanguageOf(v.Context())
	p.presenter = p.labels.Presenter
	p.InstanceName = p.instanceName(p.Instance)
	p.IdeaNumber, _ = strconv.Atoi(q.Get("at"))
	if p.IdeaNumber < 1 || p.IdeaNumber > p.LastNumber {
		p.IdeaNumber = p.LastNumber
	}
	p.SinceNumber, err = strconv.Atoi(q.Get("since"))
	if err != nil || p.SinceNumber < 1 || p.SinceNumber > p.LastNumber || p.SinceNumber == p.IdeaNumber {
		p.SinceNumber = p.IdeaNumber - 1
	}
	key := fmt.Sprintf("idea\n%s %d %d %s", p.language, p.IdeaNumber, p.SinceNumber, id)
	view, err := findWithinPageTime(v.Context(), v.storeTasks, key,
		func(ctx context.Context, _ *task) (*ideaView, error) {
			return v.loadIdeaView(ctx, id, p.IdeaNumber, p.SinceNumber)
		})
	if err != nil {
		return err
	}
	p.Link, p.Title = view.shownIdea.Link, fmt.Sprintf("Entry %d of the record of %s", p.IdeaNumber, p.ProcessTitle)
	neighbours := paginate(p.LastNumber, 1, p.IdeaNumber, func(n int) string { return p.ideaHref(n, p.Instance) })
	p.EarlierHref, p.LaterHref = neighbours.PrevHref, neighbours.NextHref
	p.addStates(view, p.language)
	if view.changes != nil {
		p.addChanges(view.changes)
	}
	return v.show("idea", &p)
}

// instanceName returns what people call an instance, or "" for the anonymous one.
func (p *ideaPage) instanceName(token string) string {
	if token == "" {
		return ""
	}
	return clipName(p.presenter.KnownInstanceName(token))
}

// ideaView is the content of an Idea page.
type ideaView struct {
	shownIdea *cachedIdea
	authors   *chain.AuthorFinder
	changes   *client.Diff // since another Idea; nil: there is none
}

func (d *Desk) loadIdeaView(ctx context.Context, processID string, ideaNumber, sinceIdeaNumber int) (*ideaView, error) {
	current, err := d.loadIdea(ctx, processID, ideaNumber)
	if err != nil {
		return nil, err
	}
	view := &ideaView{shownIdea: current}
	if view.authors, err = current.loadAuthors(ctx); err != nil || sinceIdeaNumber <= 0 {
		return view, err
	}
	view.changes, err = current.changesSince(ctx, sinceIdeaNumber, func(ctx context.Context) (*client.Diff, error) {
		earlierIdea, err := d.loadIdea(ctx, processID, sinceIdeaNumber)
		if err != nil {
			return nil, err
		}
		return d.Client.Chain(processID).DiffOf(ctx, sinceIdeaNumber, earlierIdea.Idea, ideaNumber, current.Idea)
	})
	return view, err
}

// ideaHref returns the address of another Idea of the process.
func (p *ideaPage) ideaHref(n int, instance string) string {
	q := url.Values{"at": {strconv.Itoa(n)}}
	if instance != "" {
		q.Set("instance", instance)
	}
	return p.Href + "/idea?" + q.Encode()
}

// maxShownStates bounds the States on a page.
const maxShownStates = 20

func (p *ideaPage) addStates(view *ideaView, l shown.Language) {
	i := view.shownIdea
	tokens := i.InstanceTokens
	if p.Instance != "" {
		tokens = nil
		if _, found := i.States[p.Instance]; found {
			tokens = []string{p.Instance}
		}
	}
	builder := newFactBuilder(l)
	for n, token := range tokens {
		if n == maxShownStates || builder.FactsLeft <= 0 {
			p.HiddenInstanceCount = len(tokens) - n
			break
		}
		authorOf := report.DescribeAuthors(view.authors, token)
		builder.OriginOf = func(path jsonval.Path, v any) string { return p.withToolTitle(authorOf(path, v)) }
		s := instanceState{Token: token, Name: p.instanceName(token)}
		s.State = builder.BuildAt(nil, "", p.presenter.StateFormat(), i.States[token])
		if p.Instance == "" && token != "" {
			s.Href = p.ideaHref(p.IdeaNumber, token)
		}
		p.States = append(p.States, s)
	}
}

// withToolTitle rewrites a text about the Call that wrote a value: with the title of its Tool, and the number of the
// Call alone.
func (p *ideaPage) withToolTitle(authorText string) string {
	callText, found := strings.CutPrefix(authorText, report.ByCallPrefix)
	id, tool, hasTool := strings.Cut(callText, " ")
	key, isID := ideafile.ParseCallKey(id)
	if !found || !hasTool || !isID {
		return authorText
	}
	return report.ByCallPrefix + key.ID("") + " " + clipName(p.presenter.ToolTitle(tool))
}

func (p *ideaPage) addChanges(d *client.Diff) {
	const maxValueBytes = 16 * maxCellChars // larger values are not put into words
	add := func(instance string, row changeRow, isShown bool, from, to any, text func(any) string) {
		cell := func(v any) string {
			if jsonval.SizeUpToLimit(v, maxValueBytes) < maxValueBytes {
				v = text(v)
			}
			return shortText(v, maxCellChars)
		}
		switch {
		case p.Instance != "" && instance != p.Instance && instance != "":
		case len(p.Changes) == maxShownChanges || !isShown:
			p.HiddenChangeCount++
		default:
			row.Instance, row.Path = p.instanceName(instance), clipName(row.Path)
			if row.Kind != ideadiff.Added {
				row.From = cell(from)
			}
			if row.Kind != ideadiff.Removed {
				row.To = cell(to)
			}
			p.Changes = append(p.Changes, row)
		}
	}
	for _, c := range d.Changes {
		place, format, isRawReference := placeOf(c.Path, p.presenter, false)
		row := changeRow{Kind: c.Kind, Path: describePlace(place), IsRawPath: isRawReference}
		add(c.Instance, row, format.Display != shown.Hidden, c.From, c.To,
			func(v any) string { return format.Text(v, p.language) })
	}
	for _, c := range d.Calls {
		row := changeRow{Kind: c.Kind, Path: "Step " + c.ID + " " + p.presenter.ToolTitle(c.Tool)}
		add(c.Instance, row, true, c.From, c.To, func(v any) string { return p.textOfCall(c.Tool, v) })
	}
	for n, one := range report.DescribeDecisions(d.Decisions) {
		if p.Instance == "" || d.Decisions[n].Instance == p.Instance {
			p.Decisions = append(p.Decisions, one)
		}
	}
}

// textOfCall describes the parameters of a Call, as far as its Plan has them, or the status of a Call.
func (p *ideaPage) textOfCall(tool string, v any) string {
	call, isCall := v.(jsonval.Object)
	if !isCall {
		return p.labels.Translate(jsonval.AsText(v))
	}
	return textOfParams(tool, call, p.labels, p.language)
}

// fork starts another process from an Idea.
func (v *visit) fork() error {
	ideaNumber, err := strconv.Atoi(v.PostForm.Get("at"))
	if err != nil || ideaNumber < 1 {
		return api.Unprocessable("That is not the number of an entry.")
	}
	p, err := v.Client.StartFork(v.Context(), v.processID, ideaNumber, ideafiles.ForkChanges{},
		client.StartOptions{StartedBy: v.user.Name})
	if err != nil {
		return err
	}
	return v.redirect(processHref(p.ID()))
}
