package signing

import (
	"time"

	"github.com/google/uuid"

	"processidea/model/approval/proof"
)

// NewClaims are the claims of a proof that is made now, with an id of its own: of a decision on a Call, or of a
// standing order, by the id by which call names it. Groups are those that whoever signs speaks for; none: those of the
// key.
func NewClaims(d proof.Decision, call string, groups []string) proof.Claims {
	return proof.Claims{
		IssuedAt: time.Now().Unix(), ID: uuid.NewString(), Groups: groups, Process: d.Process, Call: call,
		Digest: d.Digest, Decision: d.Kind, Details: d.Details,
	}
}
