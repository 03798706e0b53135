package turn

import (
	"cmp"
	"strings"
)

// Quota is how many Requests and Calls a consumer may have begun in all. Both only grow, so that a Quota may be
// delivered twice.
type Quota struct {
	Requests int `json:"requests"`
	Calls    int `json:"calls"`
}

// Unlimited is a Quota too large to be used up.
var Unlimited = Quota{Requests: 1 << 40, Calls: 1 << 40}

// QuotaUse is what a consumer and all its delegates have begun and used so far, and what it could begin now if its
// Quota allowed that.
type QuotaUse struct {
	Requests int        `json:"requests,omitempty"`
	Calls    int        `json:"calls,omitempty"`
	Usage    TokenUsage `json:"usage,omitzero"`
	// NeededQuota is the smallest Quota with which nothing would have to wait for more.
	NeededQuota Quota `json:"needs,omitzero"`
	// AcknowledgedQuota is the latest Quota that the consumer had received when it reported NeededQuota; zero if it
	// needs none. HasUnacknowledgedGrants reports whether a consumer below it may not have received its latest grant
	// yet, and so may still begin what that allows.
	AcknowledgedQuota       Quota `json:"heard,omitzero"`
	HasUnacknowledgedGrants bool  `json:"unheard,omitempty"`
}

// Add adds what another consumer has begun and used, but not what it needs.
func (u *QuotaUse) Add(o QuotaUse) {
	u.Requests += o.Requests
	u.Calls += o.Calls
	u.Usage.Add(o.Usage)
}

// AsQuota returns the part of the use that a Quota limits.
func (u QuotaUse) AsQuota() Quota { return Quota{u.Requests, u.Calls} }

// Plus adds two Quotas.
func (q Quota) Plus(o Quota) Quota { return Quota{q.Requests + o.Requests, q.Calls + o.Calls} }

// Minus subtracts a Quota.
func (q Quota) Minus(o Quota) Quota { return Quota{q.Requests - o.Requests, q.Calls - o.Calls} }

// Max returns the larger number of each.
func (q Quota) Max(o Quota) Quota { return Quota{max(q.Requests, o.Requests), max(q.Calls, o.Calls)} }

// Min returns the smaller number of each.
func (q Quota) Min(o Quota) Quota { return Quota{min(q.Requests, o.Requests), min(q.Calls, o.Calls)} }

// WithZeroForUnlimited returns the Quota with 0 for unlimited.
func (q Quota) WithZeroForUnlimited() Quota {
	if q.Requests >= Unlimited.Requests {
		q.Requests = 0
	}
	if q.Calls >= Unlimited.Calls {
		q.Calls = 0
	}
	return q
}

// DelegateView is a running delegate, as the process of its Call shows it.
type DelegateView struct {
	CallID    string `json:"call"`
	ProcessID string `json:"process"`
	// Status is the status of its process; empty: not reported yet.
	Status string `json:"status,omitempty"`
	// WaitingFor is what the delegate waits for, as its query "status" describes it.
	WaitingFor []string `json:"waiting,omitempty"`
	// PauseCode is why the delegate is paused; empty: it is not paused, or has not reported that.
	PauseCode string `json:"code,omitempty"`
	// HoldUps lists what holds up the delegate, or its own delegates and parts.
	HoldUps []HoldUp `json:"heldUp,omitempty"`
}

// StatusLine describes the state of the delegate in one line.
func (d DelegateView) StatusLine() string {
	if len(d.WaitingFor) == 0 {
		return cmp.Or(d.Status, "starting")
	}
	return strings.Join(d.WaitingFor, "; ")
}
