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

// Desk is a gateway that has just started, and a logged-in browser.
type Desk struct {
	gateway http.Handler
	cookies []*http.Cookie
}

// NewDesk starts a gateway, which has loaded nothing yet.
func (b *TestBed) NewDesk() (*Desk, error) {
	token := access.NewToken()
	guard, err := access.NewTokenGuard(token, access.Person{Name: "bench"})
	if err != nil {
		return nil, err
	}
	d := &Desk{gateway: server.New(server.Options{Client: b.client, Guard: guard})}
	w := d.request(context.Background(), "/?token="+token)
	if d.cookies = w.Result().Cookies(); len(d.cookies) == 0 {
		return nil, fmt.Errorf("the desk lets nobody in: %d %s", w.Code, w.Body)
	}
	return d, nil
}

// PageTiming says how long a page took.
type PageTiming struct {
	FirstAnswer time.Duration // until the first answer, even if it only says that the page is in preparation
	UntilShown  time.Duration // until the page itself came
	Size        int           // of the page, in bytes
}

// Get requests a page, repeatedly while the page is in preparation.
func (d *Desk) Get(ctx context.Context, path string) (timing PageTiming, err error) {
	begin := time.Now()
	for {
		w := d.request(ctx, path)
		timing.UntilShown, timing.Size = time.Since(begin), w.Body.Len()
		if timing.FirstAnswer == 0 {
			timing.FirstAnswer = timing.UntilShown
		}
		switch {
		case w.Code == http.StatusOK || ctx.Err() != nil:
			return timing, ctx.Err()
		// a worker that has just started may not answer yet: the page tries again
		case w.Code == http.StatusServiceUnavailable:
		case w.Code != http.StatusAccepted:
			return timing, fmt.Errorf("%s is answered %d: %.300s", path, w.Code, w.Body)
		}
		_ = pause.For(ctx, retryInterval)
	}
}

const retryInterval = 20 * time.Millisecond // less than the interval of real pages

func (d *Desk) request(ctx context.Context, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
	for _, c := range d.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	d.gateway.ServeHTTP(w, r)
	return w
}
