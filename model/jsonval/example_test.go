package jsonval_test

import (
	"fmt"

	"processidea/model/jsonval"
)

func ExampleDecode() {
	v, err := jsonval.Decode([]byte(`{"price": 12.50, "tags": ["new"]}`))
	fmt.Printf("%T %v\n", v, err)

	_, err = jsonval.Decode([]byte(`{"price": 1, "price": 2}`))
	fmt.Println(err)
	// Output:
	// map[string]interface {} <nil>
	// model: decode JSON: $.price: the key stands twice
}

func ExampleEncode() {
	v, _ := jsonval.Decode([]byte(`{"tags": ["a/b", "é"], "price": 12.50}`))
	fmt.Println(string(jsonval.Encode(v)))
	// Output: {"price":12.50,"tags":["a/b","é"]}
}

func ExamplePath() {
	v, _ := jsonval.Decode([]byte(`{"orders": [{"unit price": 5}]}`))
	p, err := jsonval.ParsePath(`orders[0]["unit price"]`)
	if err != nil {
		fmt.Println(err)
		return
	}
	price, ok := jsonval.ValueAt(v, p)
	fmt.Println(price, ok)
	fmt.Println(p, p.IsAtOrBelow(jsonval.Path{"orders"}))
	// Output:
	// 5 true
	// orders.0["unit price"] true
}

func ExampleSetAt() {
	state, _ := jsonval.Decode([]byte(`{"user": {"name": "Ada"}}`))
	changed, ok := jsonval.SetAt(state, jsonval.Path{"user", "age"}, 36)
	fmt.Println(string(jsonval.Encode(changed)), ok)
	fmt.Println(string(jsonval.Encode(state)))
	// Output:
	// {"user":{"age":36,"name":"Ada"}} true
	// {"user":{"name":"Ada"}}
}

func ExampleComputeDelta() {
	from, _ := jsonval.Decode([]byte(`{"user": {"name": "Ada"}, "log": [1, 2]}`))
	to, _ := jsonval.Decode([]byte(`{"user": {"name": "Ada"}, "log": [1, 2, 3]}`))
	delta, _ := jsonval.ComputeDelta(from, to)
	fmt.Println(string(jsonval.Encode(delta)))

	back, err := jsonval.ApplyDelta(from, delta)
	fmt.Println(jsonval.Equal(back, to), err)
	// Output:
	// {"~":{"log":{"+":[3]}}}
	// true <nil>
}
