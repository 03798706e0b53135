package engine

import (
	"fmt"
	"os"

	"processidea/model/diag"
	"processidea/model/ideafile/price"
	"processidea/model/jsonval"
)

// PricesVariable names the file with the prices of LLMs: a JSON object in the form of an Idea's config.prices.
const PricesVariable = "PROCESSIDEA_PRICES"

// pricesFromFile reads the prices of a file. Without a name, it returns nil.
func pricesFromFile(fileName string) (price.List, error) {
	if fileName == "" {
		return nil, nil
	}
	data, err := os.ReadFile(fileName)
	if err != nil {
		return nil, fmt.Errorf("engine: read %s: %w", PricesVariable, err)
	}
	priceObject, err := jsonval.DecodeObject(data)
	if err != nil {
		return nil, fmt.Errorf("engine: read %s: %s: %w", PricesVariable, fileName, err)
	}
	var problems diag.Problems
	list := price.Read(priceObject, "$", &problems)
	if len(problems) > 0 {
		return nil, fmt.Errorf("engine: read %s: %s: %w", PricesVariable, fileName, problems)
	}
	return list, nil
}
