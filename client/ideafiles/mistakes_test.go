package ideafiles_test

import (
	"strings"
	"testing"

	"processidea/client/ideafiles"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/tools"
	"processidea/tools/builtin"
	"processidea/tools/kinds"
)

// Everything that is found of a file: by reading it, by binding its Tools and by checking it.
func TestCheckNamesEachMistakeWithItsCure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, idea, want string }{
		{"a condition that requires what the tool lacks",
			`{"schema":{"tools":{"pay":{"properties":{"amount":{"type":"number"}},"_approval":{"when":{"required":["amout"]}}}}}}`,
			`warning $.schema.tools.pay._approval.when: it requires "amout", which is no parameter of the tool, so a person is asked about every Call; did you mean amount?`},
		{"a name in a URL that is no parameter",
			`{"schema":{"tools":{"get":{"properties":{"id":{"type":"string"}},"_activity":{"http":{"url":"https://a.org/x/{ident}"}}}}}}`,
			`error $.schema.tools.get._activity.http.url: {ident} is no parameter of the tool`},
		{"a parameter that the Go function refuses",
			`{"schema":{"tools":{"note":{"properties":{"text":{"type":"string"},"titel":{"type":"string"}},"required":["text"]}}}}`,
			`error $.schema.tools.note.properties.titel: the Go function note takes no parameter "titel"; there are text, title`},
		{"a parameter of another type than the Go function's",
			`{"schema":{"tools":{"note":{"properties":{"text":{"type":"integer"}},"required":["text"]}}}}`,
			`error $.schema.tools.note.properties.text: the Go function note wants string here, not integer`},
		{"a parameter that the Go function wants and the tool lacks",
			`{"schema":{"tools":{"note":{"properties":{"title":{"type":"string"}}}}}}`,
			`error $.schema.tools.note.properties: the Go function note wants a parameter "text", but the tool has none`},
		{"a display that there is not",
			`{"schema":{"tools":{"x":{"properties":{"a":{"type":"object","properties":{"b":{"_display":"mony"}}}}}}}}`,
			`error $.schema.tools.x.properties.a.properties.b._display: want date, datetime, duration, hidden, image, letter, link, money, percent, text, not "mony"`},
		{"an order that is no list of names",
			`{"schema":{"tools":{"x":{"properties":{"a":{"items":{"properties":{"b":{},"c":{}},"_order":["c",1]}}}}}}}`,
			`error $.schema.tools.x.properties.a.items._order: want a list of names of properties, not array`},
		{"an order of parameters that is no list",
			`{"schema":{"tools":{"x":{"properties":{"a":{}},"_order":"a"}}}}`,
			`error $.schema.tools.x._order: want a list of names of properties, not "a"`},
		{"a display that does not fit its type",
			`{"schema":{"tools":{"x":{"properties":{"a":{"type":["boolean","null"],"_display":"percent"}}}}}}`,
			`error $.schema.tools.x.properties.a._display: percent is for values of type integer or number or string, and these are of type boolean or null`},
		{"a currency that does not exist",
			`{"context":[{"type":"input","input":{"a":1},"schema":{"properties":{"a":{"type":"number","_display":"money","currency":"EURO"}}}}]}`,
			`error $.context[0].schema.properties.a.currency: there is no currency "EURO": want its ISO code, such as "EUR"`},
		{"a sentence that reads a parameter that is not there",
			"{\"schema\":{\"tools\":{\"x\":{\"properties\":{\"amount\":{}},\"_title\":\"†`Pay ${amuont} for " +
				"${params.amount}`\"}}}}",
			`error $.schema.tools.x._title: it reads †amuont, which is not there; did you mean amount?`},
		{"a sentence that is no template",
			`{"schema":{"tools":{"x":{"properties":{},"_title":"Pay"}}}}`,
			"error $.schema.tools.x._title: want a template, such as †`order ${input.order}`, not \"Pay\""},
		{"a name that reads what no instance has",
			"{\"config\":{\"instanceName\":\"†`order " +
				"${input.ordr}`\"},\"context\":[{\"type\":\"input\",\"_instance\":\"①\",\"input\":{\"order\":1}}]}",
			`error $.config.instanceName: it reads †input.ordr, which no instance has; did you mean order?`},
		{"a scope of an unknown kind",
			`{"schema":{"tools":{"x":{"properties":{},"_scopes":["sate.user"]}}}}`,
			`error $.schema.tools.x._scopes[0]: the context has no "sate"; did you mean state?`},
		{"an output that lacks what its form requires",
			`{"schema":{"tools":{"x":{"properties":{}}},"output":{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"],"additionalProperties":false}},
			"context":[{"type":"plan","stage":"optimal","plan":[{"_tool":"x","_outputPath":"a"}],"output":{"summ":"†state.a"}}]}`,
			`error $.context[0].output.summ: the output form allows nothing here; did you mean sum?`},
		{"a literal output of another type",
			`{"schema":{"tools":{"x":{"properties":{}}},"output":{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]}},
			"context":[{"type":"plan","stage":"optimal","plan":[{"_tool":"x","_outputPath":"a"}],"output":{"sum":"much"}}]}`,
			`error $.context[0].output: it does not fit the output form: does not fit its schema: /sum: expected number, but got string`},
		{"a record of a Call that the Plan does not have",
			`{"context":[{"type":"plan","stage":"complete","plan":[],"record":{"0.2":"done"}}]}`,
			`error $.context[0].record["0.2"]: the Plan has no Call 2: it has 0`},
		{"a record of an unknown status",
			`{"schema":{"tools":{"x":{"properties":{}}}},"context":[{"type":"plan","stage":"complete","plan":[{"_tool":"x","_outputPath":"a","_output":"1"}],"record":{"0.1":"Done"}}]}`,
			`error $.context[0].record["0.1"]: unknown status "Done"; did you mean done?`},
		{"a record of an instance that stands in no list",
			`{"schema":{"tools":{"x":{"properties":{}}}},"context":[{"type":"plan","stage":"complete","plan":[{"_tool":"x","_outputPath":"a","_output":"1"}],"record":{"0.1":{"done":"①"}}}]}`,
			`error $.context[0].record["0.1"].done: want a list of instances, or how many, not "①"`},
		{"a record of fewer instances than none",
			`{"schema":{"tools":{"x":{"properties":{}}}},"context":[{"type":"plan","stage":"complete","plan":[{"_tool":"x","_outputPath":"a","_output":"1"}],"record":{"0.1":{"done":-1}}}]}`,
			`error $.context[0].record["0.1"].done: want a list of instances, or how many, not -1`},
		{"a misspelt meta property beside a payload",
			`{"context":[{"type":"state","_instence":"①","state":{"a":1}}]}`,
			`error $.context[0]._instence: a message has no meta property "_instence"; did you mean _instance?`},
		{"a misspelt meta property in a flat message",
			`{"context":[{"type":"input","_instence":"①","a":1}]}`,
			`error $.context[0]._instence: a message has no meta property "_instence"; did you mean _instance?`},
		{"a misspelt meta property of a text",
			`{"context":[{"type":"text","_instence":"①","text":"a"}]}`,
			`error $.context[0]._instence: unknown key "_instence" in a message of type text; did you mean _instance?`},
		{"an object under data that would be a key",
			`{"context":[{"type":"state","data":{"a":1},"b":2}]}`,
			`error $.context[0].data: the message has a payload as "data" and other keys beside it`},
		{"neither tools nor an output form",
			`{"context":[{"type":"text","text":"Go."}]}`,
			`warning $.schema: the file has neither tools nor an output schema`},
		{"a bad stage does not hide what is wrong with the Calls",
			`{"schema":{"tools":{"x":{"properties":{}}}},"context":[{"type":"plan","stage":"optimum","plan":[{"_tool":"y"}]}]}`,
			`error $.context[0].plan[0]._tool: unknown tool "y"; the palette has x`},
		{"references that multiply over one value",
			`{"schema":{"tools":{"x":{"properties":{"a":{"$ref":"#/$defs/p0"}},"$defs":{` + doubling() + `}}}}}`,
			`error $.schema.tools.x: compile schema: its references multiply`},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := found(t, c.idea)
			if !strings.Contains(problemLines(all), c.want) {
				t.Errorf("it does not say\n%s\nbut\n%s", c.want, problemLines(all))
			}
		})
	}
}

func doubling() string {
	var b strings.Builder
	for n := 'A'; n < 'Z'; n++ {
		next := string(n + 1)
		b.WriteString(`"` + string(n) + `":{"allOf":[{"$ref":"#/$defs/` + next + `"},{"$ref":"#/$defs/` +
			next + `"}]},`)
	}
	return `"p0":{"$ref":"#/$defs/A"},` + b.String() + `"Z":{}`
}

func found(t *testing.T, text string) diag.Problems {
	t.Helper()
	idea, problems := ideafile.ReadIdea(modeltest.MustDecodeJSON(text))
	functions := tools.NewRegistry()
	builtin.Register(functions, nil)
	return append(problems, ideafiles.WorkerTools{Registry: kinds.NewKnownTools(functions, nil)}.Problems(idea)...)
}

// A payload stands under its kind, under data, or flat.
func TestAPayloadMayStandUnderData(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		`{"type":"data","kind":"state","data":{"a":1}}`, `{"type":"data","kind":"state","state":{"a":1}}`,
		`{"type":"state","data":{"a":1}}`,
		`{"type":"state","state":{"a":1}}`, `{"type":"state","a":1}`, `{"type":"data","kind":"state","a":1}`,
	} {
		i := modeltest.IdeaFrom(t, `{"context":[`+message+`]}`)
		if got := string(jsonval.Encode(i.Context[0].Payload)); got != `{"a":1}` ||
			i.Context[0].PayloadKind != "state" {
			t.Errorf("%s: %s", message, got)
		}
	}
}

func problemLines(ps diag.Problems) string {
	var lines []string
	for _, p := range ps {
		kind := "error "
		if p.IsWarning {
			kind = "warning "
		}
		lines = append(lines, kind+p.String())
	}
	return strings.Join(lines, "\n")
}
