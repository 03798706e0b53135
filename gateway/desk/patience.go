package desk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"processidea/client"
	"processidea/gateway/shared"
	"processidea/internal/safego"
)

const (
	// patience bounds how long a page waits for what may take long: reading the chain, and answers of a worker or the
	// server. After it the page says so and reloads, so that people see something immediately.
	patience = 250 * time.Millisecond
	// minPatience is the least that a task of a page gets after earlier tasks of the page have used up its patience.
	minPatience = 20 * time.Millisecond
	// reloadSeconds is the interval of reloads, in seconds.
	reloadSeconds = 1
	// resultTTL is how long the result of a task is kept for a page that reloads.
	resultTTL = 10 * time.Second
	// longestWork bounds a task: nobody waits for a longer one.
	longestWork = 10 * time.Minute
)

// newWorks makes Works for tasks that may take longer than a page's patience. At most atOnce of them run at a time.
func newWorks(atOnce int) *shared.Works {
	all := &shared.Works{Longest: longestWork, Keep: func(awaited bool, _ error) time.Duration {
		if awaited {
			return resultTTL
		}
		return 0
	}}
	return all.Bound(atOnce) // bounds how much is held in memory
}

type (
	work = shared.Work
	// pendingPageError is the error of a page that cannot be shown yet.
	pendingPageError = shared.PendingError
)

type pageBegan struct{}

// withPatience notes when a page began. All tasks of the page share its patience from then on.
func withPatience(ctx context.Context, began time.Time) context.Context {
	return context.WithValue(ctx, pageBegan{}, began)
}

func patienceLeft(ctx context.Context) time.Duration {
	began, ok := ctx.Value(pageBegan{}).(time.Time)
	if !ok {
		return patience
	}
	return max(patience-time.Since(began), minPatience)
}

// findWithinPatience returns the result of find. If find takes longer than the page's patience, the error is a
// *pendingPageError, and the next request gets the result.
func findWithinPatience[T any](
	ctx context.Context, all *shared.Works, key string, find func(context.Context, *work) (T, error),
) (T, error) {
	return shared.Ask(ctx, all, key, patienceLeft(ctx), find)
}

// queryWorker is findWithinPatience for data that people's acts change: after an act, a person does not get an older
// answer.
func queryWorker[T any](ctx context.Context, d *Desk, key string, find func(context.Context) (T, error)) (T, error) {
	return findWithinPatience(ctx, d.workerWorks, d.keyWithActs(ctx, key),
		func(ctx context.Context, _ *work) (T, error) { return find(ctx) })
}

// keyWithActs returns a key for data that people's acts change.
func (d *Desk) keyWithActs(ctx context.Context, key string) string {
	return fmt.Sprintf("%s\n%d %s", key, d.Acts(), client.LanguageOf(ctx))
}

// previousResultTTL is how long a page shows an earlier result while a new one takes long.
const previousResultTTL = 15 * time.Second

// findOrPrevious is findWithinPatience, but if find takes long it returns the previous result, if that was kept.
func findOrPrevious[T any](
	ctx context.Context, d *Desk, all *shared.Works, key string, keep func(T) bool,
	find func(context.Context) (T, error),
) (T, error) {
	v, err := findWithinPatience(ctx, all, key, func(ctx context.Context, _ *work) (T, error) { return find(ctx) })
	var later *pendingPageError
	switch before, known := d.previousResults.Get(key); {
	case err == nil && keep(v):
		d.previousResults.Add(key, v)
		safego.AfterFunc(previousResultTTL, "gateway.desk.found", func() { d.previousResults.Remove(key) })
	case known && errors.As(err, &later):
		return before.(T), nil
	}
	return v, err
}

// showUnderWay shows that a page is being prepared. It reloads by itself, with and without scripts.
func (v *visit) showUnderWay(u *pendingPageError) error {
	v.w.Header().Set("Refresh", strconv.Itoa(reloadSeconds))
	return v.render(http.StatusAccepted, "underway", underwayPage{v.frame("One moment"), u})
}

type underwayPage struct {
	frame
	*pendingPageError
}
