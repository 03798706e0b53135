package protocol

import "encoding/json"

// SignalDelivery is a signal to another workflow of this program, to whichever of its runs is open. It has no JSON
// tags: its field names are wire names.
type SignalDelivery struct {
	To      string
	Signal  string
	Payload json.RawMessage
}

// NewSignalDelivery encodes a payload at once, since the values in the payload may change before it is sent.
func NewSignalDelivery(to, signal string, payload any) SignalDelivery {
	p, err := jsonConverter{}.ToPayload(payload)
	if err != nil {
		panic(err) // plain data can always be encoded as JSON
	}
	return SignalDelivery{To: to, Signal: signal, Payload: p.GetData()}
}
