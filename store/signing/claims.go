package signing

import (
	"time"

	"github.com/google/uuid"

	"processidea/model/approval/proof"
)

// NewClaims returns the claims of a new proof, with a new id: for a decision on a Call, or, with callID naming its id,
// for a standing order. groups are the signer's groups; nil uses the groups of the key.
func NewClaims(d proof.ExpectedDecision, callID string, groups []string) proof.Claims {
	return proof.Claims{
		IssuedAt: time.Now().Unix(), ID: uuid.NewString(), Groups: groups, ProcessID: d.ProcessID, CallID: callID,
		ApprovalDigest: d.ApprovalDigest, DecisionKind: d.Kind, DetailsDigest: d.DetailsDigest,
	}
}
