package turn

import (
	"cmp"
	"strings"
)

// Quota is how many Requests and Calls somebody may have begun in all. Both only grow, so that it may be told twice.
type Quota struct {
	Requests int `json:"requests"`
	Calls    int `json:"calls"`
}

// Unlimited is a Quota that nobody comes to the end of.
var Unlimited = Quota{Requests: 1 << 40, Calls: 1 << 40}

// QuotaUse is what somebody has begun and used so far, with all delegates, and what it could begin at once if its Quota
// allowed it.
type QuotaUse struct {
	Requests int        `json:"requests,omitempty"`
	Calls    int        `json:"calls,omitempty"`
	Usage    TokenUsage `json:"usage,omitzero"`
	// NeededQuota is the Quota with which nothing would wait for a larger one.
	NeededQuota Quota `json:"needs,omitzero"`
	// HeardQuota is the latest Quota that it had heard of when it needed that; zero where it needs none.
	// HasUnheardGrants reports whether somebody who works for it has still to hear of a larger Quota, and to begin what
	// that allows.
	HeardQuota       Quota `json:"heard,omitzero"`
	HasUnheardGrants bool  `json:"unheard,omitempty"`
}

// Add adds what another has begun and used. What that needs is not added.
func (u *QuotaUse) Add(o QuotaUse) {
	u.Requests += o.Requests
	u.Calls += o.Calls
	u.Usage.Add(o.Usage)
}

// Begun is what it has begun, of what a Quota limits.
func (u QuotaUse) Begun() Quota { return Quota{u.Requests, u.Calls} }

// Plus adds two Quotas.
func (q Quota) Plus(o Quota) Quota { return Quota{q.Requests + o.Requests, q.Calls + o.Calls} }

// Minus subtracts a Quota.
func (q Quota) Minus(o Quota) Quota { return Quota{q.Requests - o.Requests, q.Calls - o.Calls} }

// Max is the larger number of each.
func (q Quota) Max(o Quota) Quota { return Quota{max(q.Requests, o.Requests), max(q.Calls, o.Calls)} }

// Min is the smaller number of each.
func (q Quota) Min(o Quota) Quota { return Quota{min(q.Requests, o.Requests), min(q.Calls, o.Calls)} }

// Limits is the Quota with 0 in the place of what is unlimited.
func (q Quota) Limits() Quota {
	if q.Requests >= Unlimited.Requests {
		q.Requests = 0
	}
	if q.Calls >= Unlimited.Calls {
		q.Calls = 0
	}
	return q
}

// DelegateView is a delegate under way, as its Call's process shows it.
type DelegateView struct {
	CallID    string `json:"call"`
	ProcessID string `json:"process"`
	// Status is that of its process; empty: it has not told yet.
	Status string `json:"status,omitempty"`
	// WaitingFor tells what it waits for, as its query "status" does.
	WaitingFor []string `json:"waiting,omitempty"`
	// Code is why it is paused; empty: it is not, or has not told.
	Code string `json:"code,omitempty"`
	// HeldUp is what holds it up, or what works for it.
	HeldUp []HeldUp `json:"heldUp,omitempty"`
}

// StatusLine says in one line how it stands.
func (d DelegateView) StatusLine() string {
	if len(d.WaitingFor) == 0 {
		return cmp.Or(d.Status, "starting")
	}
	return strings.Join(d.WaitingFor, "; ")
}
