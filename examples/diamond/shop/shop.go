// Package shop is the tool server of the diamond example. It computes prices, stock, shipping, tax, delivery and the
// quote of an order from its requests alone, and stores nothing.
package shop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Handler serves every tool of the example. A refusal has a status of 4xx and the body {"error": why}.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /basket", toolHandler(priceBasket))
	mux.Handle("POST /stock", toolHandler(findWarehouse))
	mux.Handle("GET /discount/{coupon}", toolHandler(computeDiscount))
	mux.Handle("GET /shipping/express/{country}", toolHandler(quoteExpress))
	mux.Handle("GET /shipping/standard/{country}", toolHandler(quoteStandard))
	mux.Handle("GET /tax/{country}", toolHandler(computeTax))
	mux.Handle("GET /delivery/{country}", toolHandler(estimateDelivery))
	mux.Handle("POST /quote", toolHandler(quoteOrder))
	return mux
}

// WithDelay delays every answer of h by d, so that a run can be watched.
func WithDelay(h http.Handler, d time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			h.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// refusal is an error with its HTTP status.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

func newRefusal(status int, format string, args ...any) error {
	return refusal{status, fmt.Sprintf(format, args...)}
}

// toolHandler writes a tool's result, or why it refuses, as JSON.
func toolHandler(tool func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		body, err := tool(r)
		if err != nil {
			status = http.StatusBadRequest
			var re refusal
			if errors.As(err, &re) {
				status = re.status
			}
			body = map[string]string{"error": err.Error()}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body) // a client that has disconnected is no error of the shop
	})
}

const maxBodyBytes = 1 << 20

// readBody decodes the JSON body of a request.
func readBody(r *http.Request, v any) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBodyBytes))
	if err == nil {
		err = json.Unmarshal(body, v)
	}
	if err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	return nil
}

// queryNumber reads a whole number of at least 0 from the query.
func queryNumber(r *http.Request, name string) (int, error) {
	var n int
	text := r.URL.Query().Get(name)
	if err := json.Unmarshal([]byte(text), &n); err != nil || n < 0 || n > 1e12 {
		return 0, fmt.Errorf("%s: want a whole number from 0, not %q", name, text)
	}
	return n, nil
}
