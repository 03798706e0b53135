package quota

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// Ledger is the account of the Requests and Calls begun by a process and its instances, or by a whole and its parts. It
// grants quota as it is needed, so that all together never begin more than the limits allow.
type Ledger struct {
	Limits       ideafile.Limits
	ParentQuota  turn.Quota    // granted by the parent
	UnclaimedUse turn.QuotaUse // begun by none of the Claimants
	Claimants    []Consumer
}

// Consumer is a consumer of the ledger's quota. The unused quota of an ended consumer is free again.
type Consumer struct {
	*Allocation
	Ended bool
}

// SetLimits sets the limits for which quota must be requested: the explicit ones, and each default, multiplied by
// times, of which half is used. Few processes come near a default, and requests for quota cost signals.
func (b *Ledger) SetLimits(explicit ideafile.Limits, times int) {
	limits, use := explicit.WithDefaults(times), b.TotalUse(turn.Quota{})
	if explicit.Requests == 0 && use.Requests < limits.Requests/2 {
		limits.Requests = 0
	}
	if explicit.Tokens == 0 && use.Usage.Total() < limits.Tokens/2 {
		limits.Tokens = 0
	}
	if explicit.Calls == 0 && use.Calls < limits.Calls/2 {
		limits.Calls = 0
	}
	b.Limits = limits
}

// AllowedQuota returns the minimum of limits and parent quota.
func (b Ledger) AllowedQuota() turn.Quota {
	q := b.ParentQuota
	if n := b.Limits.Requests; n > 0 {
		q.Requests = min(q.Requests, n)
	}
	if n := b.Limits.Calls; n > 0 {
		q.Calls = min(q.Calls, n)
	}
	return q
}

// ReservedQuota returns the part of AllowedQuota that is gone: begun, or granted to claimants that may still begin it.
func (b Ledger) ReservedQuota() turn.Quota {
	q := b.UnclaimedUse.AsQuota()
	for _, c := range b.Claimants {
		gone := c.QuotaUse.AsQuota()
		if !c.Ended {
			gone = gone.Max(c.GrantedQuota.Limits())
		}
		q = q.Plus(gone)
	}
	return q
}

// TotalUse returns what was begun and used, and the quota needed if ParentQuota does not suffice. waiting is quota that
// is needed outside the ledger.
func (b Ledger) TotalUse(waiting turn.Quota) turn.QuotaUse {
	u := b.UnclaimedUse
	u.NeededQuota = b.ReservedQuota().Plus(waiting)
	for _, c := range b.Claimants {
		u.Add(c.QuotaUse)
		if !c.Ended {
			u.NeededQuota = u.NeededQuota.Plus(c.UnmetQuota())
			u.HasUnacknowledgedGrants = u.HasUnacknowledgedGrants || c.HasUnacknowledgedGrant()
		}
	}
	u.NeededQuota = u.NeededQuota.Min(Ledger{Limits: b.Limits, ParentQuota: turn.Unlimited}.AllowedQuota())
	if u.NeededQuota.Requests <= b.ParentQuota.Requests {
		u.NeededQuota.Requests = 0
	}
	if u.NeededQuota.Calls <= b.ParentQuota.Calls {
		u.NeededQuota.Calls = 0
	}
	if u.NeededQuota != (turn.Quota{}) {
		u.AcknowledgedQuota = b.ParentQuota
	}
	return u
}

// worthSharing is the smallest number of Calls that a claimant is granted unasked. So a high limit costs few requests
// for quota, and a low limit is shared exactly.
const worthSharing = 25

// LimitUnlimitedConsumers makes consumers with an unlimited Quota request quota from now on, if the ledger is limited,
// and returns their indices.
func (b Ledger) LimitUnlimitedConsumers() (changed []int) {
	allowed, open := b.AllowedQuota(), 0
	// Requests are granted one by one if tokens or money are limited, since each may be the one that exceeds the limit.
	requests := allowed.Requests < turn.Unlimited.Requests || b.Limits.Tokens > 0 || b.Limits.Money > 0
	calls := allowed.Calls < turn.Unlimited.Calls
	for _, c := range b.Claimants {
		if !c.Ended {
			open++
		}
	}
	share := max(allowed.Calls-b.ReservedQuota().Calls, 0) / max(4*open, 1)
	if share < worthSharing {
		share = 0
	}
	for n, c := range b.Claimants {
		before := c.GrantedQuota
		if requests && c.GrantedQuota.Requests >= turn.Unlimited.Requests {
			c.GrantedQuota.Requests = c.QuotaUse.Requests
		}
		if calls && c.GrantedQuota.Calls >= turn.Unlimited.Calls {
			c.GrantedQuota.Calls = c.QuotaUse.Calls + share
		}
		if c.GrantedQuota != before && !c.Ended {
			changed = append(changed, n)
		}
	}
	return changed
}

// Allocate grants the claimants what they need, in their order, as long as something is left. It returns the indices of
// the claimants whose Quota has changed, and the limit that prevents more; nil if none does, or if ParentQuota does.
func (b Ledger) Allocate() (changed []int, f *diag.Fault) {
	changed = b.LimitUnlimitedConsumers()
	left, usage := b.AllowedQuota().Minus(b.ReservedQuota()), b.TotalUse(turn.Quota{}).Usage
	usedUp := tokenLimitFault(b.Limits, usage)
	if usedUp != nil {
		left.Requests = 0
	}
	var unmet turn.Quota
	unheard := false
	for n, c := range b.Claimants {
		if c.Ended {
			continue
		}
		if c.GrantFromRemaining(&left) {
			changed = append(changed, n)
		}
		unmet, unheard = unmet.Plus(c.UnmetQuota()), unheard || c.HasUnacknowledgedGrant()
	}
	held := b.ReservedQuota()
	switch {
	case unheard: // a grant may still be on its way: a pause could overtake it
	case unmet.Calls > 0 && b.Limits.Calls > 0 && held.Calls >= b.Limits.Calls:
		f = diag.Faultf(turn.CodeLimitReached, "%d Calls were made; the limit is %d, and %d more wait", held.Calls,
			b.Limits.Calls, unmet.Calls)
	case unmet.Requests > 0 && b.Limits.Requests > 0 && held.Requests >= b.Limits.Requests:
		f = diag.Faultf(turn.CodeLimitReached, "%d Requests were made, the limit, and a delegate needs more",
			held.Requests)
	case unmet.Requests > 0:
		f = usedUp
	}
	slices.Sort(changed)
	return slices.Compact(changed), f
}

// UsageLimitFault returns the limit on tokens, on money or on Calls that is reached; nil if none is.
func UsageLimitFault(limits ideafile.Limits, usage turn.TokenUsage, calls int) *diag.Fault {
	f := tokenLimitFault(limits, usage)
	if f == nil && limits.Calls > 0 && calls >= limits.Calls {
		f = diag.Faultf(turn.CodeLimitReached, "%d Calls were made; the limit is %d", calls, limits.Calls)
	}
	return f
}

// tokenLimitFault returns the reached limit on tokens or on their cost; nil if none is. If tokens have no price, a
// limit on money cannot be kept, and counts as reached.
func tokenLimitFault(limits ideafile.Limits, usage turn.TokenUsage) *diag.Fault {
	switch tokens := usage.Total(); {
	case limits.Tokens > 0 && tokens >= limits.Tokens:
		return diag.Faultf(turn.CodeLimitReached, "%d tokens were used; the limit is %d", tokens, limits.Tokens)
	case limits.Money > 0 && usage.Cost >= limits.Money:
		return diag.Faultf(turn.CodeLimitReached, "the LLM has cost %s; the limit is %s", usage.Cost, limits.Money)
	case limits.Money > 0 && usage.UnpricedTokens > 0:
		return diag.Faultf(turn.CodeLimitReached,
			"%d tokens have no price, so that the limit of %s cannot be kept: name the LLM's prices in config.prices, "+
				"or in the worker's PROCESSIDEA_PRICES", usage.UnpricedTokens, limits.Money)
	}
	return nil
}
