package jq

import (
	"strings"

	"github.com/itchyny/gojq"

	"processidea/model/jsonval"
)

// The functions of jq that a query may use, by name and number of arguments.
var (
	// readingFunctions return parts of their input, or a value of fixed size. They may occur in a path.
	readingFunctions = strings.Fields(`
		empty/0 error/0 error/1 not/0 select/1 first/0 first/1 last/0 last/1 nth/1 nth/2 limit/2 skip/2 until/2 while/2
		isempty/1 recurse/0 recurse/1 recurse/2 range/1 range/2 range/3 values/0 nulls/0 strings/0 numbers/0 booleans/0
		arrays/0 objects/0 iterables/0 scalars/0 length/0 utf8bytelength/0 type/0 has/1 in/1 any/0 any/1 any/2
		all/0 all/1 all/2
		min/0 max/0 startswith/1 endswith/1 test/1 test/2 sqrt/0 fabs/0 abs/0
		pow/2 log/0 exp/0 infinite/0 nan/0 isnan/0 isinfinite/0 isnormal/0 toboolean/0 getpath/1 path/1 paths/0 paths/1`)
	// growingFunctions make a value that grows with their input or with the results of their arguments.
	growingFunctions = strings.Fields(`
		map/1 map_values/1 add/0 add/1 keys/0 sort/0 sort_by/1 group_by/1 unique/0 unique_by/1 min_by/1 max_by/1
		reverse/0
		flatten/0 flatten/1 to_entries/0 from_entries/0 with_entries/1 walk/1 tostring/0 tojson/0
		ascii_downcase/0 ascii_upcase/0
		ltrimstr/1 rtrimstr/1 trim/0 ltrim/0 rtrim/0 todate/0 fromdate/0`)
	// checkedFunctions are replaced by their checked forms in the prelude.
	checkedFunctions = strings.Fields(`split/1 join/1 contains/1 capture/1 del/1 fromjson/0 tonumber/0 floor/0
		ceil/0 round/0 trunc/0`)
)

// pipeInto returns `q | name`.
func pipeInto(q *gojq.Query, name string) *gojq.Query {
	call := &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name}}
	return &gojq.Query{Left: q, Op: gojq.OpPipe, Right: &gojq.Query{Term: call}}
}

// keepDecimalDigits turns a decimal with more digits than a float holds into `_literal("1.…")`.
func keepDecimalDigits(t *gojq.Term) {
	const maxFloatDigits = 15
	if _, err := jsonval.Decode([]byte(t.Number)); err != nil || len(t.Number) <= maxFloatDigits ||
		!strings.ContainsAny(t.Number, ".eE") {
		return
	}
	text := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeString, Str: &gojq.String{Str: t.Number}}}
	*t = gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: "_literal", Args: []*gojq.Query{text}},
		SuffixList: t.SuffixList}
}

// wrapQueryWithCharge turns q into `q | _charge`.
func wrapQueryWithCharge(q *gojq.Query) {
	inner := *q
	*q = *pipeInto(&inner, "_charge")
}

// wrapTermWithCharge turns the term into `(term | _charge)`, followed by its suffixes.
func wrapTermWithCharge(t *gojq.Term) {
	inner := *t
	inner.SuffixList = nil
	*t = gojq.Term{
		Type:       gojq.TermTypeQuery,
		Query:      pipeInto(&gojq.Query{Term: &inner}, "_charge"),
		SuffixList: t.SuffixList,
	}
}
