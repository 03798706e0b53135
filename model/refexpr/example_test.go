package refexpr_test

import (
	"fmt"

	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

func ExampleParseExpression() {
	e, err := refexpr.ParseExpression("†state.price || †input.prices[0] && †input.currency")
	fmt.Println(len(e), err)
	for _, ref := range e.References() {
		fmt.Println(ref.Kind, ref.Path)
	}
	fmt.Println(e)
	// Output:
	// 2 <nil>
	// state price
	// input prices.0
	// input currency
	// †state.price || †input.prices.0 && †input.currency
}

func ExampleResolveReferences() {
	state, _ := jsonval.Decode([]byte(`{"user": {"name": "Ada"}}`))
	params, _ := jsonval.Decode([]byte(`{"to": "†state.mail || †state.user.name", "sign": "††"}`))
	resolved, err := refexpr.ResolveReferences(params, func(r refexpr.Reference) (any, bool) {
		return jsonval.ValueAt(state, r.Path)
	})
	fmt.Println(string(jsonval.Encode(resolved)), err)
	// Output: {"sign":"†","to":"Ada"} <nil>
}

func ExampleParseOutputPath() {
	o, err := refexpr.ParseOutputPath("†state.approved || †state.rejected")
	fmt.Println(o.HasBranches(), err)
	branch, result, named, err := o.SelectBranch(map[string]any{"_outputPath": "rejected", "_result": "too late"})
	fmt.Println(branch, result, named, err)
	// Output:
	// true <nil>
	// 1 too late true <nil>
}
