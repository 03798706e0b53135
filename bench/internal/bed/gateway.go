package bed

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"processidea/gateway/access"
	"processidea/gateway/server"
	"processidea/internal/pause"
)

// Desk is a gateway that has just started, and a browser in which somebody is logged in.
type Desk struct {
	gateway http.Handler
	cookies []*http.Cookie
}

// NewDesk starts a gateway, which has read nothing yet.
func (b *Bed) NewDesk() (*Desk, error) {
	token := access.NewToken()
	guard, err := access.NewTokenGuard(token, access.Person{Name: "bench"})
	if err != nil {
		return nil, err
	}
	d := &Desk{gateway: server.New(server.Options{Client: b.client, Guard: guard})}
	w := d.ask(context.Background(), "/?token="+token)
	if d.cookies = w.Result().Cookies(); len(d.cookies) == 0 {
		return nil, fmt.Errorf("the desk lets nobody in: %d %s", w.Code, w.Body)
	}
	return d, nil
}

// Look is what came of a look at a page.
type Look struct {
	Took       time.Duration // until there was an answer, be it that the page is under way
	UntilShown time.Duration // until the page was there
	Size       int           // of the page, in bytes
}

// Get looks at a page, again and again while it is under way.
func (d *Desk) Get(ctx context.Context, path string) (l Look, err error) {
	begin := time.Now()
	for {
		w := d.ask(ctx, path)
		l.UntilShown, l.Size = time.Since(begin), w.Body.Len()
		if l.Took == 0 {
			l.Took = l.UntilShown
		}
		switch {
		case w.Code == http.StatusOK || ctx.Err() != nil:
			return l, ctx.Err()
		// a worker that has just started answers later: the page looks again
		case w.Code == http.StatusServiceUnavailable:
		case w.Code != http.StatusAccepted:
			return l, fmt.Errorf("%s is answered %d: %.300s", path, w.Code, w.Body)
		}
		_ = pause.For(ctx, againAfter)
	}
}

const againAfter = 20 * time.Millisecond // sooner than pages look again

func (d *Desk) ask(ctx context.Context, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
	for _, c := range d.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	d.gateway.ServeHTTP(w, r)
	return w
}
