package loop

import (
	"processidea/model/approval"
)

// NoticeWithDecision returns a notice with the decision on its Call, if there is one.
func (l *Loop) NoticeWithDecision(n approval.Notice) approval.Notice {
	inst := l.instanceByToken[n.Instance]
	if inst == nil {
		return n
	}
	//workflowcheck:ignore -- a digest is one Call's
	for _, c := range inst.calls {
		for _, d := range c.Decisions {
			if d.ApprovalDigest == n.Digest {
				n.DecisionKind, n.DecidedBy = d.Kind, d.DecidedBy
				if d.OnBehalfOf != nil {
					n.DecidedOnBehalfOf = d.OnBehalfOf.Name
				}
			}
		}
	}
	return n
}
