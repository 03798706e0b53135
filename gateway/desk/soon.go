package desk

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"processidea/client"
	"processidea/gateway/shared"
)

const (
	// patience is how long a page waits for what may take long: what is read from the chain, and what a worker or the
	// server answers. It then says so, and looks again: whoever comes sees something at once.
	patience = 250 * time.Millisecond
	// leastPatience is what is left of it for the last of several works of a page, each of which takes a part.
	leastPatience = 20 * time.Millisecond
	// lookAgain is after how many seconds.
	lookAgain = 1
	// keptFor is how long what came of a work is kept for who was told to look again.
	keptFor = 10 * time.Second
	// longestWork ends what nobody can be waiting for any more.
	longestWork = 10 * time.Minute
)

// newWorks are for what takes longer than a page may.
func newWorks(atOnce int) *shared.Works {
	all := &shared.Works{Longest: longestWork, Keep: func(awaited bool, _ error) time.Duration {
		if awaited {
			return keptFor
		}
		return 0
	}}
	return all.Bound(atOnce) // bounds how much is held in memory
}

type (
	work = shared.Work
	// underWay is the error of a page that cannot be shown yet.
	underWay = shared.Late
)

type pageBegan struct{}

// withPatience notes when a page began: all that it waits for shares its patience.
func withPatience(ctx context.Context) context.Context {
	return context.WithValue(ctx, pageBegan{}, time.Now())
}

func patienceLeft(ctx context.Context) time.Duration {
	began, ok := ctx.Value(pageBegan{}).(time.Time)
	if !ok {
		return patience
	}
	return max(patience-time.Since(began), leastPatience)
}

// soon gives what find finds, unless that takes longer than a page may: the error is then an *underWay, and who asks
// again is given it.
func soon[T any](
	ctx context.Context, all *shared.Works, key string, find func(context.Context, *work) (T, error),
) (T, error) {
	return shared.Ask(ctx, all, key, patienceLeft(ctx), find)
}

// ask is soon of what people's acts change: who has acted is not given what was asked before.
func ask[T any](ctx context.Context, d *Desk, key string, find func(context.Context) (T, error)) (T, error) {
	key += "\n" + strconv.Itoa(d.API.Acts()) + " " + string(client.LanguageOf(ctx))
	return soon(ctx, d.asking, key, func(ctx context.Context, _ *work) (T, error) { return find(ctx) })
}

// showUnderWay says that a page is being worked out. It looks again by itself, with and without scripts.
func (d *Desk) showUnderWay(w http.ResponseWriter, r *http.Request, u *underWay) {
	w.Header().Set("Refresh", strconv.Itoa(lookAgain))
	d.render(w, r, http.StatusAccepted, "underway", struct {
		frame
		*underWay
	}{d.frame(r, "One moment"), u})
}
