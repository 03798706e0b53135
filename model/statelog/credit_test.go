package statelog_test

import (
	"fmt"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/statelog"
)

func TestOnlyTheWritesThatMadeAValueAreCreditedWithIt(t *testing.T) {
	t.Parallel()
	var writes []statelog.Write
	for n, w := range []struct{ path, method, value string }{
		{"list", "push", `"a"`},
		{"list", "push", `"b"`},
		{"user", "merge", `{"name": "Ada", "home": {"city": "Paris"}}`},
		{"user", "merge", `{"home": {"zip": 1}}`},
		{"user", "assign", `{"home": {"zip": 2}}`},
		{"text", "concat", `"more"`},
		{"", "", `{"top": {"x": 1}}`},
		{"other", "", `1`},
	} {
		path, err := jsonval.ParsePath(w.path)
		if err != nil {
			t.Fatal(err)
		}
		writes = append(writes, statelog.Write{Path: path, OutputMethod: w.method,
			Value: modeltest.DecodeJSON(t, w.value), Author: fmt.Sprint("1.", n+1), Request: 1, Index: n + 1})
	}
	corrected := writes[1]
	corrected.Path, corrected.OutputMethod, corrected.Value, corrected.CorrectionNumber = jsonval.Path{"user", "name"},
		"", "Ada", 1
	corrected.Index = 8
	writes = append(writes, corrected)
	for _, c := range []struct {
		path, credited, whole string
	}{
		{"list", "[0 1]", `["begun","a","b"]`},
		{"list[0]", "[]", `"begun"`},
		{"list[1]", "[0]", `"a"`},
		{"list[2]", "[1]", `"b"`},
		{"list[3]", "[]", `null`},
		{"user.home", "[2 3 4]", `{"zip":2}`},
		{"user.home.city", "[2 4]", `null`},
		{"user.home.zip", "[3 4]", `2`},
		{"user.name", "[2 8]", `"Ada"`},
		{"text", "[5]", `"somemore"`},
		{"text.deeper", "[]", `null`},
		{"top.x", "[6]", `1`},
		{"", "[0 1 2 3 4 5 6 7]",
			`{"list":["begun","a","b"],"other":1,"text":"somemore","top":{"x":1},"user":{"home":{"zip":2},"name":"Ada"}}`},
	} {
		path, err := jsonval.ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		credited, whole, there := statelog.ContributingWriteIndexes(modeltest.DecodeJSON(t,
			`{"list": ["begun"], "text": "some"}`), writes, path)
		if fmt.Sprint(credited) != c.credited || string(jsonval.Encode(whole)) != c.whole ||
			there != (c.whole != "null") {
			t.Errorf("%q: %v made %s", c.path, credited, jsonval.Encode(whole))
		}
	}
}
