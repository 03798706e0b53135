package engine

import (
	"fmt"
	"os"

	"processidea/model/diag"
	"processidea/model/ideafile/price"
	"processidea/model/jsonval"
)

// PricesVariable names the file with the prices of LLMs: a JSON object as config.prices of an Idea.
const PricesVariable = "PROCESSIDEA_PRICES"

// pricesFromFile reads the prices of a file; nil without a name.
func pricesFromFile(name string) (price.List, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("engine: read %s: %w", PricesVariable, err)
	}
	prices, err := jsonval.DecodeObject(data)
	if err != nil {
		return nil, fmt.Errorf("engine: read %s: %s: %w", PricesVariable, name, err)
	}
	var problems diag.Problems
	list := price.Read(prices, "$", &problems)
	if len(problems) > 0 {
		return nil, fmt.Errorf("engine: read %s: %s: %w", PricesVariable, name, problems)
	}
	return list, nil
}
