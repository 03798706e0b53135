package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

type orderParams struct {
	ID     string            `json:"id" jsonschema:"Which order."`
	Lines  []line            `json:"lines,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Note   *string           `json:"note,omitempty"`
	Extra  any               `json:"extra,omitempty"`
	Grade  grade             `json:"grade,omitempty"`
}

type line struct {
	Price  json.Number `json:"price"`
	Pieces int         `json:"pieces"`
}

type grade string

type orderResult struct {
	Got   orderParams       `json:"got"`
	List  []string          `json:"list"`
	Named map[string]int    `json:"named"`
	Index *int              `json:"index"`
	When  time.Time         `json:"when"`
	Raw   json.RawMessage   `json:"raw"`
	Deep  map[string][]line `json:"deep"`
}

func orderTool(t *testing.T, opts ...Option) *Tool {
	t.Helper()
	r := NewRegistry()
	Register(r, "order", func(_ context.Context, in orderParams) (orderResult, error) {
		return orderResult{Got: in, Raw: json.RawMessage(`{"n": 1.50}`), Deep: map[string][]line{"a": nil}}, nil
	}, opts...)
	tool, _ := r.Lookup("order")
	return tool
}

func TestSchemasAreReflectedFromTheTypes(t *testing.T) {
	t.Parallel()
	tool := orderTool(t, Pure(), Describe("Orders."), TypeSchema[grade](`{"type":"string","enum":["a","b"]}`))
	want := `{"type":"object","properties":{"id":{"type":"string","description":"Which order."},` +
		`"lines":{"type":"array","items":{"type":"object","properties":{"price":{"type":"number"},"pieces":{"type":"integer"}},"required":["price","pieces"],"additionalProperties":false}},` +
		`"labels":{"type":"object","additionalProperties":{"type":"string"}},"note":{"type":"string"},"extra":true,` +
		`"grade":{"type":"string","enum":["a","b"]}},"required":["id"],"additionalProperties":false}`
	if string(tool.ParametersSchema) != want {
		t.Errorf("parameters\n%s\nwant\n%s", tool.ParametersSchema, want)
	}
	for _, part := range []string{`"list":{"type":"array"`, `"index":{"type":["null","integer"]}`,
		`"when":{"type":"string"}`, `"raw":true`} {
		if !strings.Contains(string(tool.ResultSchema), part) {
			t.Errorf("the result's schema lacks %s: %s", part, tool.ResultSchema)
		}
	}
	if !tool.Pure || tool.Description != "Orders." || tool.Name != "order" {
		t.Errorf("%+v", tool)
	}
	if again := orderTool(t,
		TypeSchema[grade](`{"type":"string","enum":["a","b"]}`)); string(again.ParametersSchema) != want {
		t.Error("the same types make other bytes")
	}
}

func TestAResultKeepsItsNumbersAndHasNoNullForAnEmptyList(t *testing.T) {
	t.Parallel()
	result, err := orderTool(t).Call(bg,
		params(t, `{"id":"7","extra":{"big":9007199254740993,"x":[1.50]},"lines":[{"price":2.50,"pieces":3.0}]}`))
	want :=
		`{"deep":{"a":[]},"got":{"extra":{"big":9007199254740993,"x":[1.50]},"id":"7","lines":[{"pieces":3,"price":2.50}]},` +
			`"index":null,"list":[],"named":{},"raw":{"n":1.50},"when":"0001-01-01T00:00:00Z"}`
	if err != nil || encoded(t, result) != want {
		t.Errorf("%s, %v, want %s", encoded(t, result), err, want)
	}
	if n := result.(map[string]any)["raw"].(map[string]any)["n"]; n != json.Number("1.50") {
		t.Errorf("a number came back as %T", n)
	}
}

func TestAWholeNumberIsReadToTheDigit(t *testing.T) {
	t.Parallel()
	const text = `{"id":"7","lines":[{"price":1,"pieces":%s}]}`
	result, err := orderTool(t).Call(bg, params(t, fmt.Sprintf(text, "9007199254740993.0")))
	if err != nil || !strings.Contains(encoded(t, result), `"pieces":9007199254740993,`) {
		t.Errorf("%s, %v", encoded(t, result), err)
	}
	result, err = orderTool(t).Call(bg, params(t, fmt.Sprintf(text, "4503599627370497.1")))
	if err == nil || !strings.Contains(err.Error(), "4503599627370497.1, not a whole number") {
		t.Errorf("%v, %v", result, err)
	}
}

func TestParametersThatDoNotFitAreAFinalError(t *testing.T) {
	t.Parallel()
	tool := orderTool(t)
	for text, want := range map[string]string{
		`{}`:                                                  `"id" is missing`,
		`{"id":"7","colour":"red"}`:                           `unknown "colour"`,
		`{"ID":"7"}`:                                          `unknown "ID"`,
		`{"id":null}`:                                         `"id" is null`,
		`{"id":7}`:                                            `"id" is number, not a string`,
		`{"id":"7","lines":{}}`:                               `"lines" is object, not a list`,
		`{"id":"7","lines":[{"price":1}]}`:                    `"lines[0].pieces" is missing`,
		`{"id":"7","lines":[null]}`:                           `"lines[0]" is null`,
		`{"id":"7","labels":{"a":1}}`:                         `is number, not a string`,
		`{"id":"7","extra":1e10000000}`:                       `number 1e10000000 is out of range`,
		`{"id":"7","extra":[{"a":-2e-400}]}`:                  `number -2e-400 is out of range`,
		`{"id":"7","lines":[{"price":1,"pieces":1.5}]}`:       `is number 1.5, not a whole number in range`,
		`{"id":"7","lines":[{"price":1,"pieces":1e300}]}`:     `not a whole number in range`,
		`{"id":"7","extra":` + strings.Repeat("9", 401) + `}`: `a number of 401 characters`,
	} {
		result, err := tool.Call(bg, params(t, text))
		if result != nil || err == nil || !IsFinal(err) ||
			!strings.HasPrefix(err.Error(), "tools: call order: parameters: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", text, result, err, want)
		}
	}
	if _, err := tool.Call(bg,
		params(t, `{"id":"7","lines":null,"labels":null,"note":null,"extra":null,"grade":null}`)); err != nil {
		t.Errorf("an optional parameter that is null is absent: %v", err)
	}
}

func TestAnErrorIsRetriedUnlessItIsFinal(t *testing.T) {
	t.Parallel()
	cause := errors.New("no luck")
	r := NewRegistry()
	Register(r, "fails", func(_ context.Context, in struct{ Final bool }) (string, error) {
		if in.Final {
			return "", fmt.Errorf("deep: %w", Final(cause))
		}
		return "", cause
	})
	tool, _ := r.Lookup("fails")
	for _, isFinal := range []bool{false, true} {
		_, err := tool.Call(bg, map[string]any{"Final": isFinal})
		if !errors.Is(err, cause) || IsFinal(err) != isFinal {
			t.Errorf("%v: %v", isFinal, err)
		}
	}
	if Final(nil) != nil || IsFinal(nil) || IsFinal(cause) || Final(cause).Error() != "no luck" {
		t.Error("Final marks errors and nothing else")
	}
	if twice := Final(Final(cause)); twice.Error() != "no luck" || !IsFinal(twice) {
		t.Error("an error is final once")
	}
	if !IsFinal(fmt.Errorf("x: %w", saysFinal(true))) || IsFinal(saysFinal(false)) {
		t.Error("an error may say itself that it is final")
	}
}

type saysFinal bool

func (f saysFinal) Error() string { return "says" }
func (f saysFinal) Final() bool   { return bool(f) }

func TestAPanicIsAFinalErrorWithTheToolsNameAndNoStack(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	Register(r, "crashes", func(_ context.Context, in struct{ At int }) (int, error) { return []int{1}[in.At], nil })
	tool, _ := r.Lookup("crashes")
	_, err := tool.Call(bg, params(t, `{"At":5}`))
	if err == nil || !IsFinal(err) ||
		err.Error() != "tools: call crashes: panicked: runtime error: index out of range [5] with length 1" {
		t.Errorf("%v", err)
	}
	var p *PanicError
	if !errors.As(err, &p) || !strings.Contains(p.Stack, "registry_test.go") {
		t.Error("the stack is there for the log")
	}
}

type hydra int

func (h hydra) String() string { panic(h) }

func TestAPanicWhoseTextPanicsIsAnErrorToo(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	Register(r, "crashes", func(context.Context, struct{}) (int, error) { panic(hydra(1)) })
	tool, _ := r.Lookup("crashes")
	if _, err := tool.Call(bg, nil); err == nil ||
		err.Error() != "tools: call crashes: panicked: a value of type tools.hydra" {
		t.Errorf("%v", err)
	}
}

func TestAResultThatIsNoJSONIsAFinalError(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	Register(r, "odd", func(_ context.Context, in struct{ Which string }) (any, error) {
		return map[string]any{"func": func() {}, "number": json.Number("1e999"), "text": json.Number("x")}[in.Which],
			nil
	})
	tool, _ := r.Lookup("odd")
	for _, which := range []string{"func", "number", "text"} {
		if _, err := tool.Call(bg, map[string]any{"Which": which}); err == nil || !IsFinal(err) ||
			!strings.Contains(err.Error(), "tools: call odd: result: ") {
			t.Errorf("%s: %v", which, err)
		}
	}
}

func TestAToolIsToldWhichCallItRunsFor(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	var got Info
	Register(r, "asks", func(ctx context.Context, _ struct{}) (bool, error) {
		info, ok := CallInfo(ctx)
		got = info
		return ok, nil
	})
	tool, _ := r.Lookup("asks")
	want := Info{ProcessID: "p", InstanceToken: "①", CallID: "1.1@①", IdempotencyKey: "p/x/1.1", Attempt: 2,
		ScopeValues: map[string]any{"state.user": "u"}}
	if ok, err := tool.Call(WithCallInfo(bg, want), nil); ok != true || err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, %+v", ok, err, got)
	}
	if ok, err := tool.Call(bg, nil); ok != false || err != nil {
		t.Errorf("outside a Call: %v, %v", ok, err)
	}
}

func TestRegisteringWhatIsNoToolPanics(t *testing.T) {
	t.Parallel()
	ok := func(context.Context, struct{}) (string, error) { return "", nil }
	for name, register := range map[string]func(*Registry){
		"a name twice":        func(r *Registry) { Register(r, "a", ok); Register(r, "a", ok) },
		"no name":             func(r *Registry) { Register(r, "", ok) },
		"a name like a meta":  func(r *Registry) { Register(r, "_a", ok) },
		"a name with a space": func(r *Registry) { Register(r, "a b", ok) },
		"no object": func(r *Registry) {
			Register(r, "a", func(context.Context, string) (string, error) { return "", nil })
		},
		"any": func(r *Registry) {
			Register(r, "a", func(context.Context, any) (string, error) { return "", nil })
		},
		"a channel": func(r *Registry) {
			Register(r, "a", func(context.Context, struct{ C chan int }) (string, error) { return "", nil })
		},
		"a function to return": func(r *Registry) {
			Register(r, "a", func(context.Context, struct{}) (func(), error) { return nil, nil })
		},
		"a meta property": func(r *Registry) {
			Register(r, "a", func(context.Context, struct {
				X string `json:"_x"`
			}) (string, error) {
				return "", nil
			})
		},
		"a form that is none": func(r *Registry) { Register(r, "a", ok, TypeSchema[grade](`{"type":5}`)) },
		"a form with an id that would change": func(r *Registry) {
			Register(r, "a", ok, TypeSchema[grade](`{"enum":[0.1,1e3,9007199254740993]}`))
		},
	} {
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.HasPrefix(fmt.Sprint(p), "tools: ") {
					t.Errorf("%s: %v", name, p)
				}
			}()
			register(NewRegistry())
		}()
	}
}

func TestParametersMayBeAMap(t *testing.T) {
	t.Parallel()
	r := NewRegistry()
	Register(r, "count", func(_ context.Context, in map[string]any) (int, error) { return len(in), nil })
	tool, _ := r.Lookup("count")
	if got, err := tool.Call(bg, params(t, `{"a":1,"b":null}`)); err != nil || got != json.Number("2") {
		t.Errorf("%v, %v", got, err)
	}
}

func TestTheParametersOfAFunctionHaveTheOrderOfItsFields(t *testing.T) {
	t.Parallel()
	form, written, err := jsonval.DecodeWithKeyOrder(orderTool(t).ParametersSchema, jsonval.DefaultLimits)
	jsonschema.StoreSourceKeyOrder(form, written)
	if got := string(jsonval.Encode(jsonval.Lookup(form, "_order"))); got != `["id","lines","labels","note","extra","grade"]` {
		t.Errorf("%s, %v", got, err)
	}
}
