// Package books is the bookkeeping that the Tools of the invoices example call: invoices, and letters that are sent.
package books

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// overdueDaysByInvoice maps open invoices to the days by which they are overdue. An invoice that is not here is paid.
var overdueDaysByInvoice = map[string]int{
	"2026-101": 31, "2026-102": 45, "2026-104": 20, "2026-105": 9, "2026-107": 60, "2026-108": 15, "2026-109": 90,
	"2026-111": 3, "2026-112": 28,
}

const firstInvoiceNumber, lastInvoiceNumber = "2026-101", "2026-112"

// Books records the letters that were sent. Its zero value is ready.
type Books struct {
	mu                     sync.Mutex
	letterByIdempotencyKey map[string]string // by the Call's idempotency key: sent again, a letter is the same
}

// ServeHTTP answers GET /invoices/NUMBER and POST /letters.
func (b *Books) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /invoices/{number}", func(w http.ResponseWriter, r *http.Request) {
		invoiceNumber := r.PathValue("number")
		if len(invoiceNumber) != len(firstInvoiceNumber) || invoiceNumber < firstInvoiceNumber ||
			invoiceNumber > lastInvoiceNumber {
			http.Error(w, fmt.Sprintf("there is no invoice %q", invoiceNumber), http.StatusNotFound)
			return
		}
		overdueDays, isOpen := overdueDaysByInvoice[invoiceNumber]
		writeJSON(w, map[string]any{"open": isOpen, "daysOverdue": overdueDays,
			"contact": "accounts+" + strings.TrimPrefix(invoiceNumber, "2026-") + "@customer.example"})
	})
	mux.HandleFunc("POST /letters", b.acceptLetter)
	mux.ServeHTTP(w, r)
}

// acceptLetter accepts a letter. A Call's key is the same on every attempt, so that nobody gets a letter twice.
func (b *Books) acceptLetter(w http.ResponseWriter, r *http.Request) {
	var letter struct {
		Invoice, Customer, To string
		Amount                json.Number
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&letter); err != nil || letter.To == "" {
		http.Error(w, "want {invoice, customer, amount, to}", http.StatusUnprocessableEntity)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	idempotencyKey := r.Header.Get("Idempotency-Key")
	if b.letterByIdempotencyKey == nil {
		b.letterByIdempotencyKey = map[string]string{}
	}
	if b.letterByIdempotencyKey[idempotencyKey] == "" {
		b.letterByIdempotencyKey[idempotencyKey] = fmt.Sprintf("L-%s", letter.Invoice)
	}
	writeJSON(w, map[string]any{"letter": b.letterByIdempotencyKey[idempotencyKey]})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
