package shop_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"processidea/examples/diamond/shop"
)

func TestEveryToolComputesFromWhatItIsGiven(t *testing.T) {
	for _, c := range []struct {
		request, body string
		status        int
		want          string
	}{
		{"POST /basket", `{"lines":[{"sku":"FLOUR-T5","quantity":2},{"sku":"SCALE-5","quantity":1}]}`, 200,
			`{"lines":[{"sku":"FLOUR-T5","name":"Flour T55, 1 kg","quantity":2,"cents":490},{"sku":"SCALE-5","name":"Kitchen scale, 5 kg","quantity":1,"cents":2450}],"subtotalCents":2940,"weightGrams":2600}`},
		{"POST /basket", `{"lines":[{"sku":"NONE","quantity":1}]}`, 404, `{"error":"no article \"NONE\""}`},
		{"POST /basket", `{"lines":[{"sku":"SCALE-5","quantity":0}]}`, 422,
			`{"error":"SCALE-5: want a quantity from 1 to 1000, not 0"}`},
		{"POST /basket", `{`, 400, `{"error":"read body: unexpected end of JSON input"}`},
		{"POST /stock", `{"lines":[{"sku":"OVEN-28","quantity":2}]}`, 200, `{"warehouse":"Hamburg"}`},
		{"POST /stock", `{"lines":[{"sku":"SCALE-5","quantity":8}]}`, 200, `{"warehouse":"Lyon"}`},
		{"POST /stock", `{"lines":[{"sku":"OVEN-28","quantity":2},{"sku":"SCALE-5","quantity":1}]}`, 409,
			`{"error":"no warehouse has everything"}`},
		{"GET /discount/spring10?subtotalCents=5005", "", 200, `{"cents":501,"percent":10}`},
		{"GET /discount/SPRING10?subtotalCents=4999", "", 200, `{"cents":0,"percent":0}`},
		{"GET /discount/other?subtotalCents=5005", "", 200, `{"cents":0,"percent":0}`},
		{"GET /discount/other?subtotalCents=-1", "", 400,
			`{"error":"subtotalCents: want a whole number from 0, not \"-1\""}`},
		{"GET /shipping/express/ES?weightGrams=5000", "", 200, `{"carrier":"express","cents":2290,"days":1}`},
		{"GET /shipping/express/ES?weightGrams=5001", "", 422,
			`{"error":"the express courier takes 5000 g at most, not 5001 g"}`},
		{"GET /shipping/standard/PL?weightGrams=5001", "", 200, `{"carrier":"standard","cents":1210,"days":3}`},
		{"GET /shipping/standard/XX?weightGrams=1", "", 422, `{"error":"nothing is sent to \"XX\""}`},
		{"GET /tax/DE?subtotalCents=1000&discountCents=100&shippingCents=50", "", 200,
			`{"cents":181,"netCents":950,"percent":19}`},
		// over a weekend
		{"GET /delivery/FR?warehouse=Lyon&days=2&ordered=2026-03-06", "", 200, `{"date":"2026-03-10"}`},
		{"GET /delivery/FR?warehouse=Rome&days=2&ordered=2026-03-06", "", 400, `{"error":"want a warehouse,`},
		{"POST /quote", `{"order":"A-1","netCents":1000,"taxCents":205,"carrier":"express","date":"2026-03-10"}`, 200,
			`{"currency":"EUR","quoteId":"Q-A-1","text":"Order A-1: 12.05 EUR, express delivery on 2026-03-10","totalCents":1205}`},
		{"POST /quote", `{"order":"A-1"}`, 422, `{"error":"want an order, a carrier, a date and what it costs"}`},
	} {
		method, url, _ := strings.Cut(c.request, " ")
		w := httptest.NewRecorder()
		shop.Handler().ServeHTTP(w, httptest.NewRequest(method, url, strings.NewReader(c.body)))
		if got := strings.TrimSpace(w.Body.String()); w.Code != c.status || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s: got %d %s, want %d %s", c.request, c.body, w.Code, got, c.status, c.want)
		}
	}
}

func TestASlowShopAnswersLaterAndLeavesWhoHasGone(t *testing.T) {
	slow := shop.WithDelay(shop.Handler(), 20*time.Millisecond)
	began := time.Now()
	w := httptest.NewRecorder()
	slow.ServeHTTP(w, httptest.NewRequest("GET", "/discount/x?subtotalCents=1", nil))
	if took := time.Since(began); w.Body.Len() == 0 || took < 20*time.Millisecond {
		t.Errorf("answered %q after %v", w.Body, took)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	w = httptest.NewRecorder()
	shop.WithDelay(shop.Handler(), time.Hour).ServeHTTP(w,
		httptest.NewRequestWithContext(gone, "GET", "/discount/x?subtotalCents=1", nil))
	if w.Body.Len() > 0 {
		t.Errorf("answered %q to nobody", w.Body)
	}
}
