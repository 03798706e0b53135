package shop

import (
	"net/http"
	"strings"
)

type article struct {
	name         string
	cents, grams int
	stock        map[string]int // by warehouse
}

var articles = map[string]article{
	"OVEN-28":  {"Bread oven, cast iron, 28 cm", 8990, 4800, map[string]int{"Hamburg": 3, "Lyon": 1, "Poznań": 0}},
	"FLOUR-T5": {"Flour T55, 1 kg", 245, 1000, map[string]int{"Hamburg": 400, "Lyon": 260, "Poznań": 90}},
	"SCALE-5":  {"Kitchen scale, 5 kg", 2450, 600, map[string]int{"Hamburg": 0, "Lyon": 14, "Poznań": 7}},
	"BASKET-R": {"Proofing basket, round", 1590, 300, map[string]int{"Hamburg": 25, "Lyon": 30, "Poznań": 12}},
}

type line struct {
	SKU      string `json:"sku"`
	Name     string `json:"name,omitempty"`
	Quantity int    `json:"quantity"`
	Cents    int    `json:"cents"` // of the whole line
}

// lines reads {"lines": […]}, checks each article and quantity, and adds names and prices.
func lines(r *http.Request) ([]line, error) {
	var in struct {
		Lines []line `json:"lines"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	for i := range in.Lines {
		l := &in.Lines[i]
		known, ok := articles[l.SKU]
		if !ok {
			return nil, refuse(http.StatusNotFound, "no article %q", l.SKU)
		}
		if l.Quantity < 1 || l.Quantity > 1000 {
			return nil, refuse(http.StatusUnprocessableEntity, "%s: want a quantity from 1 to 1000, not %d",
				l.SKU, l.Quantity)
		}
		l.Name, l.Cents = known.name, known.cents*l.Quantity
	}
	return in.Lines, nil
}

// basket computes the prices and the weight of an order.
func basket(r *http.Request) (any, error) {
	type priced struct {
		Lines         []line `json:"lines"`
		SubtotalCents int    `json:"subtotalCents"`
		WeightGrams   int    `json:"weightGrams"`
	}
	all, err := lines(r)
	if err != nil {
		return nil, err
	}
	out := priced{Lines: all}
	for _, l := range all {
		out.SubtotalCents += l.Cents
		out.WeightGrams += articles[l.SKU].grams * l.Quantity
	}
	return out, nil
}

// stock finds the first warehouse that has everything.
func stock(r *http.Request) (any, error) {
	all, err := lines(r)
	if err != nil {
		return nil, err
	}
	for _, w := range []string{"Hamburg", "Lyon", "Poznań"} {
		if hasAll(w, all) {
			return map[string]any{"warehouse": w}, nil
		}
	}
	return nil, refuse(http.StatusConflict, "no warehouse has everything")
}

func hasAll(warehouse string, all []line) bool {
	for _, l := range all {
		if articles[l.SKU].stock[warehouse] < l.Quantity {
			return false
		}
	}
	return true
}

// discount returns a coupon's percentage of a subtotal, if the subtotal reaches the coupon's minimum.
func discount(r *http.Request) (any, error) {
	subtotal, err := number(r, "subtotalCents")
	if err != nil {
		return nil, err
	}
	coupons := map[string]struct{ percent, from int }{"SPRING10": {10, 5000}, "WELCOME5": {5, 0}}
	c, ok := coupons[strings.ToUpper(r.PathValue("coupon"))]
	if !ok || subtotal < c.from {
		c.percent = 0
	}
	return map[string]int{"percent": c.percent, "cents": percent(subtotal, c.percent)}, nil
}

// percent rounds half up.
func percent(cents, rate int) int { return (cents*rate + 50) / 100 }
