package shop

import (
	"net/http"
	"strings"
)

type article struct {
	name                    string
	priceCents, weightGrams int
	stockByWarehouse        map[string]int // by warehouse
}

var articles = map[string]article{
	"OVEN-28":  {"Bread oven, cast iron, 28 cm", 8990, 4800, map[string]int{"Hamburg": 3, "Lyon": 1, "Poznań": 0}},
	"FLOUR-T5": {"Flour T55, 1 kg", 245, 1000, map[string]int{"Hamburg": 400, "Lyon": 260, "Poznań": 90}},
	"SCALE-5":  {"Kitchen scale, 5 kg", 2450, 600, map[string]int{"Hamburg": 0, "Lyon": 14, "Poznań": 7}},
	"BASKET-R": {"Proofing basket, round", 1590, 300, map[string]int{"Hamburg": 25, "Lyon": 30, "Poznań": 12}},
}

type orderLine struct {
	SKU        string `json:"sku"`
	Name       string `json:"name,omitempty"`
	Quantity   int    `json:"quantity"`
	TotalCents int    `json:"cents"` // of the whole line
}

// readOrderLines reads {"lines": […]}, checks each article and quantity, and adds names and prices.
func readOrderLines(r *http.Request) ([]orderLine, error) {
	var in struct {
		Lines []orderLine `json:"lines"`
	}
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	for i := range in.Lines {
		l := &in.Lines[i]
		catalogArticle, ok := articles[l.SKU]
		if !ok {
			return nil, newRefusal(http.StatusNotFound, "no article %q", l.SKU)
		}
		if l.Quantity < 1 || l.Quantity > 1000 {
			return nil, newRefusal(http.StatusUnprocessableEntity, "%s: want a quantity from 1 to 1000, not %d",
				l.SKU, l.Quantity)
		}
		l.Name, l.TotalCents = catalogArticle.name, catalogArticle.priceCents*l.Quantity
	}
	return in.Lines, nil
}

// priceBasket computes the prices and the weight of an order.
func priceBasket(r *http.Request) (any, error) {
	type pricedBasket struct {
		Lines         []orderLine `json:"lines"`
		SubtotalCents int         `json:"subtotalCents"`
		WeightGrams   int         `json:"weightGrams"`
	}
	basketLines, err := readOrderLines(r)
	if err != nil {
		return nil, err
	}
	out := pricedBasket{Lines: basketLines}
	for _, l := range basketLines {
		out.SubtotalCents += l.TotalCents
		out.WeightGrams += articles[l.SKU].weightGrams * l.Quantity
	}
	return out, nil
}

// findWarehouse finds the first warehouse that has everything.
func findWarehouse(r *http.Request) (any, error) {
	lines, err := readOrderLines(r)
	if err != nil {
		return nil, err
	}
	for _, w := range []string{"Hamburg", "Lyon", "Poznań"} {
		if hasAllInStock(w, lines) {
			return map[string]any{"warehouse": w}, nil
		}
	}
	return nil, newRefusal(http.StatusConflict, "no warehouse has everything")
}

func hasAllInStock(warehouse string, lines []orderLine) bool {
	for _, l := range lines {
		if articles[l.SKU].stockByWarehouse[warehouse] < l.Quantity {
			return false
		}
	}
	return true
}

// computeDiscount returns a coupon's percentage of a subtotal, if the subtotal reaches the coupon's minimum.
func computeDiscount(r *http.Request) (any, error) {
	subtotal, err := queryNumber(r, "subtotalCents")
	if err != nil {
		return nil, err
	}
	coupons := map[string]struct{ percent, from int }{"SPRING10": {10, 5000}, "WELCOME5": {5, 0}}
	c, ok := coupons[strings.ToUpper(r.PathValue("coupon"))]
	if !ok || subtotal < c.from {
		c.percent = 0
	}
	return map[string]int{"percent": c.percent, "cents": percentOf(subtotal, c.percent)}, nil
}

// percentOf rounds half up.
func percentOf(cents, percent int) int { return (cents*percent + 50) / 100 }
