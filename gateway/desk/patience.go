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
	// leastPatience is the minimum of it for the last of several tasks of a page, each of which uses up a part.
	leastPatience = 20 * time.Millisecond
	// lookAgain is the interval of reloads, in seconds.
	lookAgain = 1
	// resultTTL is how long the result of a task is kept for a page that reloads.
	resultTTL = 10 * time.Second
	// longestWork ends tasks that nobody can be waiting for any more.
	longestWork = 10 * time.Minute
)

// newWorks are for what takes longer than a page may.
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
	// underWay is the error of a page that cannot be shown yet.
	underWay = shared.PendingError
)

type pageBegan struct{}

// withPatience notes when a page began: all that it waits for shares its patience from then on.
func withPatience(ctx context.Context, began time.Time) context.Context {
	return context.WithValue(ctx, pageBegan{}, began)
}

func patienceLeft(ctx context.Context) time.Duration {
	began, ok := ctx.Value(pageBegan{}).(time.Time)
	if !ok {
		return patience
	}
	return max(patience-time.Since(began), leastPatience)
}

// inPatience returns the result of find. If that takes longer than a page may, the error is an *underWay, and the next
// request gets the result.
func inPatience[T any](
	ctx context.Context, all *shared.Works, key string, find func(context.Context, *work) (T, error),
) (T, error) {
	return shared.Ask(ctx, all, key, patienceLeft(ctx), find)
}

// ask is inPatience for data that people's acts change: after an act, a person does not get an older answer.
func ask[T any](ctx context.Context, d *Desk, key string, find func(context.Context) (T, error)) (T, error) {
	return inPatience(ctx, d.asking, d.sinceActs(ctx, key),
		func(ctx context.Context, _ *work) (T, error) { return find(ctx) })
}

// sinceActs is a key of what people's acts change.
func (d *Desk) sinceActs(ctx context.Context, key string) string {
	return fmt.Sprintf("%s\n%d %s", key, d.Acts(), client.LanguageOf(ctx))
}

// foundFor is how long a page shows an earlier result while a new one takes long.
const foundFor = 15 * time.Second

// lately is inPatience, but if find takes long it returns the previous result, if that was kept.
func lately[T any](
	ctx context.Context, d *Desk, all *shared.Works, key string, keep func(T) bool,
	find func(context.Context) (T, error),
) (T, error) {
	v, err := inPatience(ctx, all, key, func(ctx context.Context, _ *work) (T, error) { return find(ctx) })
	var later *underWay
	switch before, known := d.found.Get(key); {
	case err == nil && keep(v):
		d.found.Add(key, v)
		safego.AfterFunc(foundFor, "gateway.desk.found", func() { d.found.Remove(key) })
	case known && errors.As(err, &later):
		return before.(T), nil
	}
	return v, err
}

// showUnderWay shows that a page is being prepared. It reloads by itself, with and without scripts.
func (v *visit) showUnderWay(u *underWay) error {
	v.w.Header().Set("Refresh", strconv.Itoa(lookAgain))
	return v.render(http.StatusAccepted, "underway", struct {
		frame
		*underWay
	}{v.frame("One moment"), u})
}
