package desk

import (
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strconv"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/gateway/access"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/store/chain"
	"processidea/store/ideadiff"
)

const mostChanges = 200 // that a page shows

type ideaPage struct {
	frame
	Process  string
	Href     string
	At, Last int
	Link     chain.Link
	Instance string
	States   []instanceState
	More     int // instances that are not shown
	Changes  []changeRow
	Left     int // changes that are not shown
	Decided  []string
}

type instanceState struct {
	Token string
	Href  string
	State fact
}

type changeRow struct {
	Instance, What, Path, From, To string
}

// showIdea goes back in the time of a process: State as it was in an Idea, and what had changed since the one before.
func (d *Desk) showIdea(w http.ResponseWriter, r *http.Request) error {
	id, q := r.PathValue("process"), r.URL.Query()
	c := d.Client.Chain(id)
	latest, err := c.Latest(r.Context())
	if err != nil {
		return err
	}
	p := ideaPage{frame: d.frame(r, "Idea of "+visible(clip(id, cellLength))), Process: id, Href: processHref(id), Last: latest.At, Instance: q.Get("instance")}
	p.At, _ = strconv.Atoi(q.Get("at"))
	if p.At < 1 || p.At > p.Last {
		p.At = p.Last
	}
	if p.Link, err = c.Link(r.Context(), p.At); err != nil {
		return err
	}
	idea, err := c.Load(r.Context(), p.At)
	if err != nil {
		return err
	}
	p.Title = fmt.Sprintf("Idea %d of %s", p.At, visible(clip(id, cellLength)))
	p.addStates(idea)
	if p.At > 1 {
		diff, err := c.Diff(r.Context(), p.At-1, p.At)
		if err != nil {
			return err
		}
		p.addChanges(diff)
	}
	d.render(w, r, http.StatusOK, "idea", &p)
	return nil
}

// at is the address of another Idea of the process.
func (p *ideaPage) at(n int, instance string) string {
	q := url.Values{"at": {strconv.Itoa(n)}}
	if instance != "" {
		q.Set("instance", instance)
	}
	return p.Href + "/idea?" + q.Encode()
}

// Earlier is the address of the Idea before; empty: there is none.
func (p *ideaPage) Earlier() string {
	if p.At == 1 {
		return ""
	}
	return p.at(p.At-1, p.Instance)
}

// Later is the address of the Idea after; empty: there is none.
func (p *ideaPage) Later() string {
	if p.At == p.Last {
		return ""
	}
	return p.at(p.At+1, p.Instance)
}

func (p *ideaPage) addStates(idea map[string]any) {
	const atOnce = 20
	states, tokens := map[string]any{}, []string{}
	list, _ := idea["context"].([]any)
	for _, m := range list {
		message := jsonval.AsObject(m)
		token, _ := message["_instance"].(string)
		if message["type"] != ideafile.TypeState || p.Instance != "" && token != p.Instance {
			continue
		}
		if _, known := states[token]; !known {
			tokens = append(tokens, token)
		}
		states[token] = message["state"]
	}
	sort.Slice(tokens, func(i, j int) bool { return ideafiles.TokenLess(tokens[i], tokens[j]) })
	t := newTeller()
	for n, token := range tokens {
		if n == atOnce {
			p.More = len(tokens) - n
			break
		}
		s := instanceState{Token: token, State: t.tell("", "", states[token])}
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
		case len(p.Changes) == mostChanges:
			p.Left++
		default:
			row := changeRow{Instance: visible(instance), What: what, Path: visible(clip(path, cellLength))}
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
		add(c.Instance, c.What, "Call "+c.ID+" "+c.Tool, c.From, c.To)
	}
	for _, one := range d.Decisions {
		text := one.CallID + " was " + one.Describe()
		if p.Instance == "" || one.Instance == p.Instance {
			p.Decided = append(p.Decided, visible(clip(text, longestText)))
		}
	}
}

// fork starts another process from an Idea.
func (d *Desk) fork(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("process")
	at, err := strconv.Atoi(r.PostForm.Get("at"))
	if err != nil || at < 1 {
		return unfit("That is no number of an Idea.")
	}
	idea, err := d.Client.Chain(id).Fork(r.Context(), at)
	if err != nil {
		return err
	}
	p, err := d.Client.Start(r.Context(), client.StartOptions{Idea: idea, ForkOf: id, By: access.From(r.Context()).Name})
	if err != nil {
		return err
	}
	http.Redirect(w, r, processHref(p.ID()), http.StatusSeeOther)
	return nil
}

type verifyPage struct {
	frame
	Href   string
	Report *chain.Report
}

// verify checks the chain of a process.
func (d *Desk) verify(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("process")
	report, err := d.Client.Chain(id).Verify(r.Context())
	if err != nil {
		return err
	}
	d.render(w, r, http.StatusOK, "verify", verifyPage{d.frame(r, "The record of "+visible(clip(id, cellLength))), processHref(id), report})
	return nil
}
