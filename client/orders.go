package client

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"processidea/client/internal/kind"
	"processidea/model/approval"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/store/blobs"
	"processidea/store/signing"
)

// StandingOrder is an approval in advance: matching Calls of a Tool that wait for a person are approved under it, in
// the name of its giver.
type StandingOrder struct {
	// ID is the name with which Disallow ends the order; at most 100 characters.
	ID   string `json:"id" minLength:"1" maxLength:"100" doc:"a name of your own, by which it is ended"`
	Tool string `json:"tool" minLength:"1"`
	// ParamsCondition is a JSON Schema that the parameters of a Call must fit; nil: any parameters. A parameter listed
	// under "properties" must be present.
	ParamsCondition Object `json:"when,omitempty" doc:"a JSON Schema that the parameters fit; absent: any do"`
	// MaxCalls is the maximum number of Calls that are approved; 0: any number. Until is the moment at which the order
	// ends; zero: never. At least one of them is required.
	MaxCalls int       `json:"count,omitempty" minimum:"1" maximum:"100000" doc:"how many Calls it approves; count, until or both"`
	Until    time.Time `json:"until,omitzero" doc:"the moment at which it ends"`
	// By is who gives the order.
	By     string   `json:"-"`
	Groups []string `json:"-"`
	Reason string   `json:"reason,omitempty"`
	// Key signs the order, for Tools whose policy requires signed decisions; nil: the order is not signed. Proof is a
	// compact JWS made elsewhere, and takes precedence.
	Key   Signer `json:"-"`
	Proof string `json:"proof,omitempty" doc:"a signature made elsewhere"`
}

func (o StandingOrder) payload() jsonval.Object { return orderPayload(o, o.By, o.Groups) }

func orderPayload(order any, actorName string, groups []string) jsonval.Object {
	payload := toObject(order)
	if actorName != "" {
		payload["by"] = actorName
	}
	if groups != nil {
		payload["groups"] = jsonval.ToJSONValue(groups)
	}
	return payload
}

// Validate checks the form of an order locally; the error wraps ErrInvalid.
func (o StandingOrder) Validate() error {
	_, err := approval.ReadStandingOrder(o.payload())
	return kind.WithKind(ErrInvalid, err)
}

// Allow gives a standing order, and returns when it is in force. The error is a *RefusedError if the process refused
// it: there is no such Tool, the giver may not decide on its Calls, the id is in use. It wraps ErrInvalid if the order
// is malformed. Status().Orders counts the Calls approved under it. An order for a part is given for the whole process.
func (p *Process) Allow(ctx context.Context, o StandingOrder) error {
	return p.sendOrder(ctx, approval.SteerGiveStandingOrder, o.payload(), approval.ReadStandingOrder, o.Key)
}

// Deputy decides in place of By for a time, on Calls of one process.
type Deputy struct {
	// OrderID is the name with which Disallow ends the deputy's time early; empty: one is made up.
	OrderID    string `json:"id,omitempty" maxLength:"100" doc:"a name of your own, by which it is ended; absent: one is made"`
	DeputyName string `json:"to" minLength:"1" maxLength:"200" doc:"who may decide in your place"`
	// From is when the time begins; zero: now.
	From  time.Time `json:"from,omitzero" doc:"absent: at once"`
	Until time.Time `json:"until" doc:"the moment at which their time ends"`
	// By is who names the deputy.
	By     string   `json:"-"`
	Groups []string `json:"-"`
	Reason string   `json:"reason,omitempty"`
	// Key and Proof are as in StandingOrder.
	Key   Signer `json:"-"`
	Proof string `json:"proof,omitempty" doc:"a signature made elsewhere"`
}

// NameDeputy lets somebody decide in place of By. Whether By may decide is checked with each decision. The error is a
// *RefusedError if the process refuses the Deputy, and wraps ErrInvalid if the Deputy is malformed.
func (p *Process) NameDeputy(ctx context.Context, d Deputy) error {
	d.OrderID = cmp.Or(d.OrderID, "deputy-"+uuid.NewString()[:8])
	return p.sendOrder(ctx, approval.SteerDeputy, orderPayload(d, d.By, d.Groups), approval.ReadDeputyOrder, d.Key)
}

// sendOrder sends an order, signed if there is a key and no proof.
func (p *Process) sendOrder(ctx context.Context, signalName string, payload jsonval.Object,
	parseOrder func(jsonval.Object) (approval.StandingOrder, error), key Signer) error {
	p = p.wholeProcess()
	o, err := parseOrder(payload)
	if err == nil && key != nil && o.Proof == "" {
		payload["proof"], err = key.Sign(signing.NewClaims(o.DecisionToProve(p.id), o.ID, o.Groups))
	}
	if err != nil {
		return kind.Errorf(ErrInvalid, "%s: %w", signalName, err)
	}
	return p.steer(ctx, signalName, payload)
}

// OrderApprovals counts the Calls of one Tool in one process that standing orders of one person approved.
type OrderApprovals struct {
	ProcessID string // of the process that somebody started
	GivenBy   string
	Tool      string
	Count     int
}

// OrderApprovals lists what standing orders approved since a moment, in all processes, the most first. It reads the
// chains, as Insights does.
func (c *Client) OrderApprovals(ctx context.Context, since time.Time) ([]OrderApprovals, error) {
	countByOrigin := map[OrderApprovals]int{}
	_, err := c.eachDecision(ctx, func(processID string, d RecordedDecision) {
		if d.StandingOrderID != "" && d.DecidedAt.After(since) {
			countByOrigin[OrderApprovals{blobs.RootProcessID(processID), d.DecidedBy, d.Tool, 0}]++
		}
	})
	var list []OrderApprovals
	for one, count := range countByOrigin {
		one.Count = count
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b OrderApprovals) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.ProcessID, b.ProcessID), cmp.Compare(a.GivenBy, b.GivenBy),
			cmp.Compare(a.Tool, b.Tool))
	})
	return list, err
}

// wholeProcess returns the process that has the orders: a part has none.
func (p *Process) wholeProcess() *Process { return p.client.Process(spelling.WholeProcessID(p.id)) }

// Disallow ends a standing order, or a deputy's time. Decisions already taken stay.
func (p *Process) Disallow(ctx context.Context, standingOrderID string, actor Actor) error {
	payload := actor.payload()
	payload["order"] = standingOrderID
	return p.wholeProcess().steer(ctx, approval.SteerEndStandingOrder, payload)
}
