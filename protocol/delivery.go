package protocol

import "encoding/json"

// Delivery is a signal to another workflow of this program, whichever of its runs is open. It has no JSON tags: the names of
// its fields are wire names.
type Delivery struct {
	To      string
	Signal  string
	Payload json.RawMessage
}

// NewDelivery encodes a payload at once, since the values that it is made of may change before it is sent.
func NewDelivery(to, signal string, payload any) Delivery {
	p, err := jsonConverter{}.ToPayload(payload)
	if err != nil {
		panic(err) // plain data can always be encoded as JSON
	}
	return Delivery{To: to, Signal: signal, Payload: p.GetData()}
}
