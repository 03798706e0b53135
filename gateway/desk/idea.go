package desk

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/report"
	"processidea/gateway/api"
	"processidea/model/ideafile/shown"
	"processidea/store/chain"
	"processidea/store/ideadiff"
)

const maxChanges = 200 // that a page shows

type ideaPage struct {
	frame
	At, Last     int
	Link         chain.Link
	Instance     string
	InstanceName string
	States       []instanceState
	More         int // instances that are not shown
	Changes      []changeRow
	Left         int // changes that are not shown
	Decided      []string
	Since        int // the Idea with which it is compared

	Earlier, Later string // the addresses of the Ideas before and after; empty: none
	words          *shown.Words
}

type instanceState struct {
	Token string
	Name  string // its name for people; without one, its token
	Href  string
	State fact
}

type changeRow struct {
	Instance, What, Path, From, To string
}

// showIdea goes back in the time of a process: State as it was in an Idea, and what had changed since the one before.
func (v *visit) showIdea() error {
	id, q := v.process, v.URL.Query()
	latest, err := v.Client.Chain(id).Link(v.Context(), 0)
	if err != nil {
		return err
	}
	p := ideaPage{frame: v.frame("The record"), Last: latest.At, Instance: q.Get("instance")}
	p.words = v.Client.Process(id).Words(v.Context())
	p.InstanceName = p.name(p.Instance)
	p.At, _ = strconv.Atoi(q.Get("at"))
	if p.At < 1 || p.At > p.Last {
		p.At = p.Last
	}
	p.Since, err = strconv.Atoi(q.Get("since"))
	if err != nil || p.Since < 1 || p.Since > p.Last || p.Since == p.At {
		p.Since = p.At - 1
	}
	s, err := inPatience(v.Context(), v.reading, fmt.Sprintf("idea\n%d %d %s", p.At, p.Since, id),
		func(ctx context.Context, _ *work) (*sight, error) {
			return v.look(ctx, id, p.At, p.Since)
		})
	if err != nil {
		return err
	}
	p.Link, p.Title = s.shownIdea.Link, fmt.Sprintf("Entry %d of the record of %s", p.At, short(id))
	beside := partOf(p.Last, 1, p.At, func(n int) string { return p.at(n, p.Instance) })
	p.Earlier, p.Later = beside.Prev, beside.Next
	p.addStates(s, client.LanguageOf(v.Context()))
	if s.changes != nil {
		p.addChanges(s.changes)
	}
	return v.show("idea", &p)
}

// name is what people call an instance; "" for the only one.
func (p *ideaPage) name(token string) string {
	if token == "" {
		return ""
	}
	return short(p.words.NameOf(token))
}

// sight is the content of an Idea page.
type sight struct {
	shownIdea *seenIdea
	authors   *chain.Authors
	changes   *client.Diff // since another one; nil: it is compared with none
}

func (d *Desk) look(ctx context.Context, process string, at, since int) (*sight, error) {
	now, err := d.idea(ctx, process, at)
	if err != nil {
		return nil, err
	}
	s := &sight{shownIdea: now}
	if s.authors, err = now.authors(ctx); err != nil || since <= 0 {
		return s, err
	}
	s.changes, err = now.changesSince(ctx, since, func(ctx context.Context) (*client.Diff, error) {
		before, err := d.idea(ctx, process, since)
		if err != nil {
			return nil, err
		}
		return d.Client.Chain(process).DiffOf(ctx, since, before.Idea, at, now.Idea)
	})
	return s, err
}

// at is the address of another Idea of the process.
func (p *ideaPage) at(n int, instance string) string {
	q := url.Values{"at": {strconv.Itoa(n)}}
	if instance != "" {
		q.Set("instance", instance)
	}
	return p.Href + "/idea?" + q.Encode()
}

// statesPerPage is the number of States on a page; Page is the number of the page.
const statesPerPage = 20

func (p *ideaPage) addStates(seen *sight, l shown.Language) {
	i := seen.shownIdea
	tokens := i.Tokens
	if p.Instance != "" {
		tokens = nil
		if _, there := i.States[p.Instance]; there {
			tokens = []string{p.Instance}
		}
	}
	t := newTeller(l)
	for n, token := range tokens {
		if n == statesPerPage || t.Left <= 0 {
			p.More = len(tokens) - n
			break
		}
		t.From = report.From(seen.authors, token)
		s := instanceState{Token: token, Name: p.name(token)}
		s.State = t.BuildAt(nil, "", p.words.StateFormat(), i.States[token])
		if p.Instance == "" && token != "" {
			s.Href = p.at(p.At, token)
		}
		p.States = append(p.States, s)
	}
}

func (p *ideaPage) addChanges(d *client.Diff) {
	add := func(instance, what, path string, from, to any) {
		switch {
		case p.Instance != "" && instance != p.Instance && instance != "":
		case len(p.Changes) == maxChanges:
			p.Left++
		default:
			row := changeRow{Instance: p.name(instance), What: what, Path: short(path)}
			if what != ideadiff.Added {
				row.From = shortText(from, cellLength)
			}
			if what != ideadiff.Removed {
				row.To = shortText(to, cellLength)
			}
			p.Changes = append(p.Changes, row)
		}
	}
	for _, c := range d.Changes {
		add(c.Instance, c.What, c.Path, c.From, c.To)
	}
	for _, c := range d.Calls {
		add(c.Instance, c.What, "Step "+c.ID+" "+p.words.Tool(c.Tool), c.From, c.To)
	}
	for _, one := range d.Decisions {
		text := one.CallID + " was " + one.Describe()
		if p.Instance == "" || one.Instance == p.Instance {
			p.Decided = append(p.Decided, long(text))
		}
	}
}

// fork starts another process from an Idea.
func (v *visit) fork() error {
	at, err := strconv.Atoi(v.PostForm.Get("at"))
	if err != nil || at < 1 {
		return api.Unprocessable("That is not the number of an entry.")
	}
	p, err := v.Client.StartFork(v.Context(), v.process, at, ideafiles.Changes{}, client.StartOptions{By: v.who.Name})
	if err != nil {
		return err
	}
	return v.lead(processHref(p.ID()))
}
