package shop

import (
	"fmt"
	"net/http"
	"time"
)

type country struct {
	taxPercent      int            // per cent
	parcelZone      int            // of the parcel service, 1 is the cheapest
	daysByWarehouse map[string]int // days from each warehouse to the country's border
}

var countries = map[string]country{
	"DE": {19, 1, map[string]int{"Hamburg": 0, "Lyon": 1, "Poznań": 1}},
	"FR": {20, 1, map[string]int{"Hamburg": 1, "Lyon": 0, "Poznań": 2}},
	"PL": {23, 2, map[string]int{"Hamburg": 1, "Lyon": 2, "Poznań": 0}},
	"ES": {21, 3, map[string]int{"Hamburg": 2, "Lyon": 1, "Poznań": 3}},
}

func readDestination(r *http.Request) (country, error) {
	c, ok := countries[r.PathValue("country")]
	if !ok {
		return c, newRefusal(http.StatusUnprocessableEntity, "nothing is sent to %q", r.PathValue("country"))
	}
	return c, nil
}

const maxExpressGrams = 5000

type shippingQuote struct {
	Carrier string `json:"carrier"`
	Cents   int    `json:"cents"`
	Days    int    `json:"days"`
}

// quoteExpress takes light parcels only.
func quoteExpress(r *http.Request) (any, error) {
	c, grams, err := readDestinationAndWeight(r)
	if err != nil {
		return nil, err
	}
	if grams > maxExpressGrams {
		return nil, newRefusal(http.StatusUnprocessableEntity, "the express courier takes %d g at most, not %d g",
			maxExpressGrams, grams)
	}
	return shippingQuote{"express", 1490 + 400*(c.parcelZone-1), 1}, nil
}

// quoteStandard takes everything, at a price for each kilogram begun.
func quoteStandard(r *http.Request) (any, error) {
	c, grams, err := readDestinationAndWeight(r)
	if err != nil {
		return nil, err
	}
	return shippingQuote{"standard", 490 + 60*((grams+999)/1000)*c.parcelZone, 1 + c.parcelZone}, nil
}

func readDestinationAndWeight(r *http.Request) (country, int, error) {
	c, err := readDestination(r)
	if err != nil {
		return c, 0, err
	}
	grams, err := queryNumber(r, "weightGrams")
	return c, grams, err
}

// computeTax applies to goods and shipping, after the discount.
func computeTax(r *http.Request) (any, error) {
	c, err := readDestination(r)
	if err != nil {
		return nil, err
	}
	var amounts [3]int
	for i, name := range []string{"subtotalCents", "discountCents", "shippingCents"} {
		if amounts[i], err = queryNumber(r, name); err != nil {
			return nil, err
		}
	}
	netCents := amounts[0] - amounts[1] + amounts[2]
	return map[string]int{"percent": c.taxPercent, "netCents": netCents, "cents": percentOf(netCents, c.taxPercent)},
		nil
}

// estimateDelivery counts working days from the day of the order.
func estimateDelivery(r *http.Request) (any, error) {
	c, err := readDestination(r)
	if err != nil {
		return nil, err
	}
	days, err := queryNumber(r, "days")
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	extraDays, ok := c.daysByWarehouse[query.Get("warehouse")]
	date, err := time.Parse(time.DateOnly, query.Get("ordered"))
	if !ok || err != nil || days > 60 {
		return nil, fmt.Errorf("want a warehouse, the day of the order and at most 60 days, not %q", r.URL.RawQuery)
	}
	for daysLeft := days + extraDays; daysLeft > 0; {
		if date = date.AddDate(0, 0, 1); date.Weekday() != time.Saturday && date.Weekday() != time.Sunday {
			daysLeft--
		}
	}
	return map[string]string{"date": date.Format(time.DateOnly)}, nil
}

// quoteOrder adds everything up.
func quoteOrder(r *http.Request) (any, error) {
	var in struct {
		Order    string `json:"order"`
		NetCents int    `json:"netCents"`
		TaxCents int    `json:"taxCents"`
		Carrier  string `json:"carrier"`
		Date     string `json:"date"`
	}
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	if in.Order == "" || in.Carrier == "" || in.Date == "" || in.NetCents <= 0 {
		return nil, newRefusal(http.StatusUnprocessableEntity, "want an order, a carrier, a date and what it costs")
	}
	totalCents := in.NetCents + in.TaxCents
	return map[string]any{
		"quoteId": "Q-" + in.Order, "totalCents": totalCents, "currency": "EUR",
		"text": fmt.Sprintf("Order %s: %d.%02d EUR, %s delivery on %s", in.Order, totalCents/100, totalCents%100,
			in.Carrier, in.Date),
	}, nil
}
