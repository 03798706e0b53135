package quota

import "processidea/model/turn"

// Allocation is a consumer's share of a Quota.
type Allocation struct {
	GrantedQuota turn.Quota    `json:"quota"`
	QuotaUse     turn.QuotaUse `json:"use,omitzero"`
}

// ReservedQuota is the part of the shared Quota that others cannot have: what was granted, and what was used beyond
// that.
func (c Allocation) ReservedQuota() turn.Quota {
	return c.GrantedQuota.Max(c.QuotaUse.AsQuota())
}

// UnmetQuota returns the needed quota that has not been granted.
func (c Allocation) UnmetQuota() turn.Quota {
	return c.QuotaUse.NeededQuota.Minus(c.ReservedQuota()).Max(turn.Quota{})
}

// GrantFromRemaining grants what is needed, as far as left suffices, and subtracts it from left. It reports whether it
// granted anything.
func (c *Allocation) GrantFromRemaining(remaining *turn.Quota) bool {
	grantedQuota := c.UnmetQuota().Min(*remaining).Max(turn.Quota{})
	if grantedQuota == (turn.Quota{}) {
		return false
	}
	*remaining = remaining.Minus(grantedQuota)
	c.GrantedQuota = c.ReservedQuota().Plus(grantedQuota)
	return true
}

// HasUnacknowledgedGrant reports whether a grant may not have reached its consumer yet.
func (c Allocation) HasUnacknowledgedGrant() bool {
	acknowledgedQuota, needsQuota := c.QuotaUse.AcknowledgedQuota, c.QuotaUse.NeededQuota != (turn.Quota{})
	return c.QuotaUse.HasUnacknowledgedGrants ||
		(needsQuota && acknowledgedQuota.Max(c.GrantedQuota.WithZeroForUnlimited()) != acknowledgedQuota)
}

// UseWithoutNeeds returns what was begun, without what is still needed.
func (c Allocation) UseWithoutNeeds() turn.QuotaUse {
	use := c.QuotaUse
	use.NeededQuota, use.AcknowledgedQuota, use.HasUnacknowledgedGrants = turn.Quota{}, turn.Quota{}, false
	return use
}

// GrantReducedToUse returns the used part of the granted quota. An unlimited quota stays unlimited.
func (c Allocation) GrantReducedToUse() turn.Quota {
	q := c.GrantedQuota
	if q.Requests < turn.Unlimited.Requests {
		q.Requests = c.QuotaUse.Requests
	}
	if q.Calls < turn.Unlimited.Calls {
		q.Calls = c.QuotaUse.Calls
	}
	return q
}
