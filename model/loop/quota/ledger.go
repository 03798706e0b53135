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
	Limits      ideafile.Limits
	ParentQuota turn.Quota    // granted by the parent
	OwnUse      turn.QuotaUse // begun by none of the Claimants
	Consumers   []Consumer
}

// Consumer is a consumer of the ledger's quota. The unused quota of an ended consumer is free again.
type Consumer struct {
	*Allocation
	HasEnded bool
}

// SetLimits sets the limits for which quota must be requested: the explicit ones, and each default, multiplied by
// times, of which half is used. Few processes come near a default, and requests for quota cost signals.
func (b *Ledger) SetLimits(explicitLimits ideafile.Limits, defaultLimitsFactor int) {
	limits, totalUse := explicitLimits.WithDefaults(defaultLimitsFactor), b.TotalUse(turn.Quota{})
	if explicitLimits.Requests == 0 && totalUse.Requests < limits.Requests/2 {
		limits.Requests = 0
	}
	if explicitLimits.Tokens == 0 && totalUse.Usage.Total() < limits.Tokens/2 {
		limits.Tokens = 0
	}
	if explicitLimits.Calls == 0 && totalUse.Calls < limits.Calls/2 {
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
	q := b.OwnUse.AsQuota()
	for _, c := range b.Consumers {
		consumerQuota := c.QuotaUse.AsQuota()
		if !c.HasEnded {
			consumerQuota = consumerQuota.Max(c.GrantedQuota.WithZeroForUnlimited())
		}
		q = q.Plus(consumerQuota)
	}
	return q
}

// TotalUse returns what was begun and used, and the quota needed if ParentQuota does not suffice. awaitedQuota is quota
// that is needed outside the ledger.
func (b Ledger) TotalUse(awaitedQuota turn.Quota) turn.QuotaUse {
	u := b.OwnUse
	u.NeededQuota = b.ReservedQuota().Plus(awaitedQuota)
	for _, c := range b.Consumers {
		u.Add(c.QuotaUse)
		if !c.HasEnded {
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

// minUnaskedCallGrant is the smallest number of Calls that a claimant is granted unasked. So a high limit costs few
// requests for quota, and a low limit is shared exactly.
const minUnaskedCallGrant = 25

// LimitUnlimitedConsumers makes consumers with an unlimited Quota request quota from now on, if the ledger is limited,
// and returns their indices.
func (b Ledger) LimitUnlimitedConsumers() (changedConsumerIndexes []int) {
	allowedQuota, openConsumerCount := b.AllowedQuota(), 0
	// Requests are granted one by one if tokens or money are limited, since each may be the one that exceeds the limit.
	areRequestsLimited := allowedQuota.Requests < turn.Unlimited.Requests || b.Limits.Tokens > 0 || b.Limits.Money > 0
	areCallsLimited := allowedQuota.Calls < turn.Unlimited.Calls
	for _, c := range b.Consumers {
		if !c.HasEnded {
			openConsumerCount++
		}
	}
	callShare := max(allowedQuota.Calls-b.ReservedQuota().Calls, 0) / max(4*openConsumerCount, 1)
	if callShare < minUnaskedCallGrant {
		callShare = 0
	}
	for n, c := range b.Consumers {
		oldQuota := c.GrantedQuota
		if areRequestsLimited && c.GrantedQuota.Requests >= turn.Unlimited.Requests {
			c.GrantedQuota.Requests = c.QuotaUse.Requests
		}
		if areCallsLimited && c.GrantedQuota.Calls >= turn.Unlimited.Calls {
			c.GrantedQuota.Calls = c.QuotaUse.Calls + callShare
		}
		if c.GrantedQuota != oldQuota && !c.HasEnded {
			changedConsumerIndexes = append(changedConsumerIndexes, n)
		}
	}
	return changedConsumerIndexes
}

// Allocate grants the claimants what they need, in their order, as long as something is left. It returns the indices of
// the claimants whose Quota has changed, and the limit that prevents more; nil if none does, or if ParentQuota does.
func (b Ledger) Allocate() (changedConsumerIndexes []int, f *diag.Fault) {
	changedConsumerIndexes = b.LimitUnlimitedConsumers()
	remainingQuota, usage := b.AllowedQuota().Minus(b.ReservedQuota()), b.TotalUse(turn.Quota{}).Usage
	tokenOrMoneyFault := tokenOrMoneyLimitFault(b.Limits, usage)
	if tokenOrMoneyFault != nil {
		remainingQuota.Requests = 0
	}
	var unmetQuota turn.Quota
	hasUnacknowledgedGrant := false
	for n, c := range b.Consumers {
		if c.HasEnded {
			continue
		}
		if c.GrantFromRemaining(&remainingQuota) {
			changedConsumerIndexes = append(changedConsumerIndexes, n)
		}
		unmetQuota, hasUnacknowledgedGrant = unmetQuota.Plus(c.UnmetQuota()), hasUnacknowledgedGrant ||
			c.HasUnacknowledgedGrant()
	}
	reservedQuota := b.ReservedQuota()
	switch {
	case hasUnacknowledgedGrant: // a grant may still be on its way: a pause could overtake it
	case unmetQuota.Calls > 0 && b.Limits.Calls > 0 && reservedQuota.Calls >= b.Limits.Calls:
		f = diag.Faultf(turn.CodeLimitReached, "%d Calls were made; the limit is %d, and %d more wait",
			reservedQuota.Calls,
			b.Limits.Calls, unmetQuota.Calls)
	case unmetQuota.Requests > 0 && b.Limits.Requests > 0 && reservedQuota.Requests >= b.Limits.Requests:
		f = diag.Faultf(turn.CodeLimitReached, "%d Requests were made, the limit, and a delegate needs more",
			reservedQuota.Requests)
	case unmetQuota.Requests > 0:
		f = tokenOrMoneyFault
	}
	slices.Sort(changedConsumerIndexes)
	return slices.Compact(changedConsumerIndexes), f
}

// UsageLimitFault returns the limit on tokens, on money or on Calls that is reached; nil if none is.
func UsageLimitFault(limits ideafile.Limits, usage turn.TokenUsage, callCount int) *diag.Fault {
	f := tokenOrMoneyLimitFault(limits, usage)
	if f == nil && limits.Calls > 0 && callCount >= limits.Calls {
		f = diag.Faultf(turn.CodeLimitReached, "%d Calls were made; the limit is %d", callCount, limits.Calls)
	}
	return f
}

// tokenOrMoneyLimitFault returns the reached limit on tokens or on their cost; nil if none is. If tokens have no price,
// a limit on money cannot be kept, and counts as reached.
func tokenOrMoneyLimitFault(limits ideafile.Limits, usage turn.TokenUsage) *diag.Fault {
	switch tokenCount := usage.Total(); {
	case limits.Tokens > 0 && tokenCount >= limits.Tokens:
		return diag.Faultf(turn.CodeLimitReached, "%d tokens were used; the limit is %d", tokenCount, limits.Tokens)
	case limits.Money > 0 && usage.Cost >= limits.Money:
		return diag.Faultf(turn.CodeLimitReached, "the LLM has cost %s; the limit is %s", usage.Cost, limits.Money)
	case limits.Money > 0 && usage.UnpricedTokens > 0:
		return diag.Faultf(turn.CodeLimitReached,
			"%d tokens have no price, so that the limit of %s cannot be kept: name the LLM's prices in config.prices, "+
				"or in the worker's PROCESSIDEA_PRICES", usage.UnpricedTokens, limits.Money)
	}
	return nil
}
