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
	// pageTimeout bounds how long a page waits for what may take long: reading the chain, and answers of a worker or
	// the server. After it the page says so and reloads, so that people see something immediately.
	pageTimeout = 250 * time.Millisecond
	// minPageTimeout is the least that a task of a page gets after earlier tasks of the page have used up its patience.
	minPageTimeout = 20 * time.Millisecond
	// underwayReloadSeconds is the interval of reloads, in seconds.
	underwayReloadSeconds = 1
	// awaitedResultTTL is how long the result of a task is kept for a page that reloads.
	awaitedResultTTL = 10 * time.Second
	// maxTaskDuration bounds a task: nobody waits for a longer one.
	maxTaskDuration = 10 * time.Minute
)

// newTasks makes Tasks for tasks that may take longer than a page's patience. At most maxConcurrent of them run at a
// time.
func newTasks(maxConcurrent int) *shared.Tasks {
	tasks := &shared.Tasks{MaxDuration: maxTaskDuration, ResultTTL: func(awaited bool, _ error) time.Duration {
		if awaited {
			return awaitedResultTTL
		}
		return 0
	}}
	return tasks.LimitConcurrency(maxConcurrent) // bounds how much is held in memory
}

type (
	task = shared.Task
	// pendingPageError is the error of a page that cannot be shown yet.
	pendingPageError = shared.PendingError
)

type pageStartKey struct{}

// withPageStart notes when a page began. All tasks of the page share its patience from then on.
func withPageStart(ctx context.Context, start time.Time) context.Context {
	return context.WithValue(ctx, pageStartKey{}, start)
}

func pageTimeLeft(ctx context.Context) time.Duration {
	start, ok := ctx.Value(pageStartKey{}).(time.Time)
	if !ok {
		return pageTimeout
	}
	return max(pageTimeout-time.Since(start), minPageTimeout)
}

// findWithinPageTime returns the result of find. If find takes longer than the page's patience, the error is a
// *pendingPageError, and the next request gets the result.
func findWithinPageTime[T any](
	ctx context.Context, tasks *shared.Tasks, key string, find func(context.Context, *task) (T, error),
) (T, error) {
	return shared.Ask(ctx, tasks, key, pageTimeLeft(ctx), find)
}

// queryWorker is findWithinPageTime for data that people's acts change: after an act, a person does not get an older
// answer.
func queryWorker[T any](ctx context.Context, d *Desk, key string, find func(context.Context) (T, error)) (T, error) {
	return findWithinPageTime(ctx, d.workerTasks, d.keyWithChangeCount(ctx, key),
		func(ctx context.Context, _ *task) (T, error) { return find(ctx) })
}

// keyWithChangeCount returns a key for data that people's acts change.
func (d *Desk) keyWithChangeCount(ctx context.Context, key string) string {
	return fmt.Sprintf("%s\n%d %s", key, d.ChangeCount(), client.LanguageOf(ctx))
}

// previousResultTTL is how long a page shows an earlier result while a new one takes long.
const previousResultTTL = 15 * time.Second

// findOrPrevious is findWithinPageTime, but if find takes long it returns the previous result, if that was kept.
func findOrPrevious[T any](
	ctx context.Context, d *Desk, tasks *shared.Tasks, key string, shouldKeep func(T) bool,
	find func(context.Context) (T, error),
) (T, error) {
	v, err := findWithinPageTime(ctx, tasks, key, func(ctx context.Context, _ *task) (T, error) { return find(ctx) })
	var pending *pendingPageError
	switch previous, isCached := d.previousResults.Get(key); {
	case err == nil && shouldKeep(v):
		d.previousResults.Add(key, v)
		safego.AfterFunc(previousResultTTL, "gateway.desk.found", func() { d.previousResults.Remove(key) })
	case isCached && errors.As(err, &pending):
		return previous.(T), nil
	}
	return v, err
}

// showUnderWay shows that a page is being prepared. It reloads by itself, with and without scripts.
func (v *visit) showUnderWay(pending *pendingPageError) error {
	v.w.Header().Set("Refresh", strconv.Itoa(underwayReloadSeconds))
	return v.render(http.StatusAccepted, "underway", underwayPage{v.frame("One moment"), pending})
}

type underwayPage struct {
	frame
	*pendingPageError
}
