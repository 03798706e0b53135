package protocol

import "encoding/json"

// Delivery is a signal to another workflow of this program, whichever of its runs is open.
type Delivery struct {
	To      string
	Signal  string
	Payload json.RawMessage
}

// delivery puts a payload into the form in which it travels at once: what it is made of may change meanwhile.
func NewDelivery(to, signal string, payload any) Delivery {
	p, err := jsonConverter{}.ToPayload(payload)
	if err != nil {
		panic(err) // plain data can be written as JSON
	}
	return Delivery{to, signal, p.GetData()}
}
