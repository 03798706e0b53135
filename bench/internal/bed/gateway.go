package bed

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/server"
)

// Client is what programs ask of the processes on the bed.
func (b *Bed) Client() *client.Client { return client.New(b.client, b.server.Namespace(), b.store) }

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
	d := &Desk{gateway: server.New(server.Options{Client: b.Client(), Guard: guard})}
	w := d.ask(context.Background(), "/?token="+token)
	if d.cookies = w.Result().Cookies(); len(d.cookies) == 0 {
		return nil, fmt.Errorf("the desk lets nobody in: %d %s", w.Code, w.Body)
	}
	return d, nil
}

// Get asks for a page, and tells how long the gateway took to answer with so many bytes.
func (d *Desk) Get(ctx context.Context, path string) (took time.Duration, size int, err error) {
	begin := time.Now()
	w := d.ask(ctx, path)
	took, size = time.Since(begin), w.Body.Len()
	if w.Code != http.StatusOK {
		err = fmt.Errorf("%s is answered %d: %.300s", path, w.Code, w.Body)
	}
	return took, size, err
}

func (d *Desk) ask(ctx context.Context, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
	for _, c := range d.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	d.gateway.ServeHTTP(w, r)
	return w
}
