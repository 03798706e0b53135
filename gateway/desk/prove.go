package desk

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"processidea/client"
	"processidea/client/report"
	"processidea/store/chain"
)

const decisionsPerPage = 100

type verifyPage struct {
	frame
	Report    *chain.Report
	Checked   time.Time
	Proof     string
	Decisions []report.Decision
	Orders    []givenOrder
	part
}

// givenOrder is a standing order, or a deputy, that somebody gave or ended.
type givenOrder struct {
	report.Decision
	About string   // the title of its Tool, or the deputy
	Terms []string // its condition in words
}

// verify checks the chain of a process, and shows who decided what and how that is proved.
func (v *visit) verify() error {
	id := v.process
	c, err := v.check(v.Context(), id, v.URL.Query().Has("again"))
	if err != nil {
		return err
	}
	p := verifyPage{frame: v.frame("The record of " + clipName(id)), Report: c.report,
		Proof: report.Proof(c.report), Checked: c.at}
	all := c.decisions
	words, l := v.Client.Process(id).Words(v.Context()), client.LanguageOf(v.Context())
	for _, d := range report.Orders(all) {
		one := givenOrder{Decision: d}
		if o := d.Given; o != nil {
			one.About = cmp.Or(o.To, words.Tool(o.Tool))
			one.Terms = RulesInWords(words.ParamsFormat(o.Tool), o.When, l)
		}
		p.Orders = append(p.Orders, one)
	}
	page, _ := strconv.Atoi(v.FormValue("page"))
	p.part = partOf(len(all), decisionsPerPage, page,
		func(n int) string { return p.Href + "/verify?page=" + strconv.Itoa(n) })
	p.Decisions = all[p.First-1 : p.Last]
	return v.show("verify", p)
}

// check is the result of verifying the whole chain of a process.
type check struct {
	report    *chain.Report
	decisions []report.Decision
	at        time.Time
}

const (
	maxChecks = 8
	// maxCachedDecisions bounds the decisions of a process whose check is cached.
	maxCachedDecisions = 20_000
	// checkTTL is how old a check may be to be reused although a new one is asked for.
	checkTTL = 15 * time.Second
)

// check verifies the chain of a process, unless that was done since its latest Idea. If again is true, that check must
// also be younger than checkTTL.
func (d *Desk) check(ctx context.Context, process string, again bool) (*check, error) {
	chain := d.Client.Chain(process)
	latest, err := chain.Link(ctx, 0)
	if errors.Is(err, client.ErrNotFound) {
		return nil, err // if the latest Idea cannot be read, the check reports it
	}
	key := process + "\n" + latest.Digest + "\n" + string(client.LanguageOf(ctx))
	if c, known := d.checks.Get(key); known && (!again || time.Since(c.at) < checkTTL) {
		return c, nil
	}
	return findWithinPatience(ctx, d.storeWorks, "check\n"+key, func(ctx context.Context, w *work) (*check, error) {
		checked, err := chain.VerifyWithProgress(ctx, w.SetProgress)
		if err != nil {
			return nil, err
		}
		made, err := chain.Decisions(ctx, 0)
		if err != nil && checked.IsIntact {
			return nil, err
		}
		c := &check{checked, report.Decisions(made), time.Now()}
		if len(c.decisions) <= maxCachedDecisions && latest.Digest != "" {
			d.checks.Add(key, c)
		}
		return c, nil
	})
}

// export sends all that a process did as one file.
func (v *visit) export() error {
	send, err := v.Report(v.Context(), v.process)
	if err == nil {
		send(v.w)
	}
	return err
}
