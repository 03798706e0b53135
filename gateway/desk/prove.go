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
	Report       *chain.Report
	CheckedAt    time.Time
	ProofSummary string
	Decisions    []report.Decision
	Orders       []givenOrder
	pagination
}

// givenOrder is a standing order, or a deputy, that somebody gave or ended.
type givenOrder struct {
	report.Decision
	About string   // the title of its Tool, or the deputy
	Terms []string // its condition in words
}

// showVerify checks the chain of a process, and shows who decided what and how that is proved.
func (v *visit) showVerify() error {
	id := v.processID
	c, err := v.checkChain(v.Context(), id, v.URL.Query().Has("again"))
	if err != nil {
		return err
	}
	p := verifyPage{frame: v.processFrame("The record of %s"), Report: c.report,
		ProofSummary: report.ProofSummary(c.report), CheckedAt: c.checkedAt}
	decisions := c.decisions
	presenter, l := v.Client.Process(id).Presenter(v.Context()), client.LanguageOf(v.Context())
	for _, d := range report.FilterOrderDecisions(decisions) {
		one := givenOrder{Decision: d}
		if o := d.GivenOrder; o != nil {
			one.About = cmp.Or(o.DeputyName, presenter.ToolTitle(o.Tool))
			one.Terms = rulesInWords(presenter.ParamsFormat(o.Tool), o.ParamsCondition, l)
		}
		p.Orders = append(p.Orders, one)
	}
	page, _ := strconv.Atoi(v.FormValue("page"))
	p.pagination = paginate(len(decisions), decisionsPerPage, page,
		func(n int) string { return p.Href + "/verify?page=" + strconv.Itoa(n) })
	p.Decisions = decisions[p.First-1 : p.Last]
	return v.show("verify", p)
}

// chainCheck is the result of verifying the whole chain of a process.
type chainCheck struct {
	report    *chain.Report
	decisions []report.Decision
	checkedAt time.Time
}

const (
	maxCachedChecks = 8
	// maxCachedCheckDecisions bounds the decisions of a process whose check is cached.
	maxCachedCheckDecisions = 20_000
	// minForcedCheckInterval is how old a check may be to be reused although a new one is asked for.
	minForcedCheckInterval = 15 * time.Second
)

// checkChain verifies the chain of a process, unless that was done since its latest Idea. If again is true, that check
// must also be younger than minForcedCheckInterval.
func (d *Desk) checkChain(ctx context.Context, processID string, force bool) (*chainCheck, error) {
	chain := d.Client.Chain(processID)
	latest, err := chain.Link(ctx, 0)
	if errors.Is(err, client.ErrNotFound) {
		return nil, err // if the latest Idea cannot be read, the check reports it
	}
	key := processID + "\n" + latest.Digest + "\n" + string(client.LanguageOf(ctx))
	if c, isCached := d.checkCache.Get(key); isCached && (!force || time.Since(c.checkedAt) < minForcedCheckInterval) {
		return c, nil
	}
	return findWithinPageTime(ctx, d.storeTasks, "check\n"+key,
		func(ctx context.Context, w *task) (*chainCheck, error) {
			chainReport, err := chain.VerifyWithProgress(ctx, w.SetProgress)
			if err != nil {
				return nil, err
			}
			decisions, err := chain.Decisions(ctx, 0)
			if err != nil && chainReport.IsIntact {
				return nil, err
			}
			c := &chainCheck{chainReport, report.DescribeDecisions(decisions), time.Now()}
			if len(c.decisions) <= maxCachedCheckDecisions && latest.Digest != "" {
				d.checkCache.Add(key, c)
			}
			return c, nil
		})
}

// exportReport sends all that a process did as one file.
func (v *visit) exportReport() error {
	writeReport, err := v.RenderReport(v.Context(), v.processID)
	if err == nil {
		writeReport(v.w)
	}
	return err
}
