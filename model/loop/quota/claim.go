package quota

import "processidea/model/turn"

// Allocation is what somebody has of a Quota that several share.
type Allocation struct {
	GrantedQuota turn.Quota    `json:"quota"`
	QuotaUse     turn.QuotaUse `json:"use,omitzero"`
}

// ReservedQuota is what of the shared Quota is gone for others: what was given, and what was used beyond that.
func (c Allocation) ReservedQuota() turn.Quota {
	return turn.Quota{Requests: max(c.GrantedQuota.Requests, c.QuotaUse.Requests),
		Calls: max(c.GrantedQuota.Calls, c.QuotaUse.Calls)}
}

// UnmetQuota is what is needed beyond what was given.
func (c Allocation) UnmetQuota() turn.Quota {
	held := c.ReservedQuota()
	return turn.Quota{Requests: max(c.QuotaUse.NeededQuota.Requests-held.Requests, 0),
		Calls: max(c.QuotaUse.NeededQuota.Calls-held.Calls, 0)}
}

// GrantFromRemaining gives what is needed, as far as it is left, takes it from left, and reports whether there was
// anything to give.
func (c *Allocation) GrantFromRemaining(left *turn.Quota) bool {
	unmet, held := c.UnmetQuota(), c.ReservedQuota()
	n := turn.Quota{Requests: max(min(unmet.Requests, left.Requests), 0), Calls: max(min(unmet.Calls, left.Calls), 0)}
	if n == (turn.Quota{}) {
		return false
	}
	left.Requests -= n.Requests
	left.Calls -= n.Calls
	c.GrantedQuota = turn.Quota{Requests: held.Requests + n.Requests, Calls: held.Calls + n.Calls}
	return true
}

// HasUnacknowledgedGrant reports whether what it was given may not have come to whoever is to begin it.
func (c Allocation) HasUnacknowledgedGrant() bool {
	heard, needs := c.QuotaUse.HeardQuota, c.QuotaUse.NeededQuota != (turn.Quota{})
	calls := c.GrantedQuota.Calls < turn.Unlimited.Calls && heard.Calls < c.GrantedQuota.Calls
	requests := c.GrantedQuota.Requests < turn.Unlimited.Requests && heard.Requests < c.GrantedQuota.Requests
	return c.QuotaUse.HasUnheardGrants || (needs && (calls || requests))
}

// StartedUse is what was begun, without what was still needed.
func (c Allocation) StartedUse() turn.QuotaUse {
	use := c.QuotaUse
	use.NeededQuota, use.HeardQuota, use.HasUnheardGrants = turn.Quota{}, turn.Quota{}, false
	return use
}

// UsedQuota is the Quota that was given, without what is left of it. What is unlimited stays so.
func (c Allocation) UsedQuota() turn.Quota {
	q := c.GrantedQuota
	if q.Requests < turn.Unlimited.Requests {
		q.Requests = c.QuotaUse.Requests
	}
	if q.Calls < turn.Unlimited.Calls {
		q.Calls = c.QuotaUse.Calls
	}
	return q
}
