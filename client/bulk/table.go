package bulk

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"processidea/client"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Table shows many waiting Calls. Its values are JSON values.
type Table struct {
	CallCount int `json:"calls"` // the number of Calls
	// SharedFields are the fields that are the same in all Calls.
	SharedFields []Field `json:"alike"`
	// Columns are the names of the fields that differ, in the order of the first Call that has them.
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Field is one property of a Call: a parameter, a member of one (customer.name), or a field with one of the names
// below.
type Field struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// These are the names of fields that are no parameters.
const (
	FieldTool         = "Tool"
	FieldWritesTo     = "Writes to" // where the result goes in State
	FieldScopes       = "Scopes"    // what the Tool gets beside its parameters
	FieldOutput       = "Result"    // what the LLM wrote as the result
	FieldAdaptedFrom  = "Fitted by the LLM from"
	FieldReason       = "Why" // why a person is asked, if not because of the Tool's policy
	FieldDeciders     = "Decided by"
	FieldDecidedSoFar = "So far"          // who has decided already
	FieldTimeout      = "At the deadline" // what happens by itself
	// The deadlines of all Calls, "first to last": never a column, since Calls seldom wait since the same second.
	FieldDeadline = "Deadline"
	FieldAllowed  = "Allowed" // the allowed decisions, if not all are
)

var reservedNames = []string{
	FieldTool, FieldWritesTo, FieldScopes, FieldOutput, FieldAdaptedFrom, FieldReason, FieldDeciders, FieldDecidedSoFar,
	FieldTimeout,
	FieldDeadline, FieldAllowed,
}

// Row is one Call, or one Call that waits in several instances with equal fields.
type Row struct {
	// CallID is its id, 1.2@⑬; without an instance if there are several.
	CallID    string         `json:"call"`
	Instances []string       `json:"instances"`
	Values    map[string]any `json:"values"` // by column; a field that the Call does not have is missing
}

// maxDepth is the depth down to which members of parameters are fields of their own.
const maxDepth = 3

// TableOf makes the table of some approvals.
func TableOf(list []client.Approval) Table {
	t := Table{CallCount: len(list), SharedFields: []Field{}, Columns: []string{}, Rows: []Row{}}
	fieldsByCall := make([][]Field, len(list))
	countByValue := map[string]map[string]int{} // by name and value: how many have it
	var names []string
	for n, a := range list {
		fieldsByCall[n] = fieldsOf(a)
		for _, f := range fieldsByCall[n] {
			if countByValue[f.Name] == nil {
				countByValue[f.Name] = map[string]int{}
				names = append(names, f.Name)
			}
			countByValue[f.Name][jsonval.EncodeToString(f.Value)]++
		}
	}
	differs := map[string]bool{}
	for _, name := range names {
		presentCount := 0
		for _, n := range countByValue[name] {
			presentCount += n
		}
		if differs[name] = len(countByValue[name]) > 1 || presentCount < len(list); differs[name] {
			t.Columns = append(t.Columns, name)
		}
	}
	t.addRows(list, fieldsByCall, differs)
	if deadline := deadlineRange(list); deadline != "" {
		t.SharedFields = append(t.SharedFields, Field{FieldDeadline, deadline})
	}
	return t
}

// deadlineRange returns the first and the last deadline of some Calls; "" if no Call has one.
func deadlineRange(list []client.Approval) string {
	var all []time.Time
	for _, a := range list {
		if a.Deadline != nil {
			all = append(all, *a.Deadline)
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortFunc(all, time.Time.Compare)
	first, last := all[0].UTC().Format(time.RFC3339), all[len(all)-1].UTC().Format(time.RFC3339)
	if first == last {
		return first
	}
	return first + " to " + last
}

// addRows adds a row for each Call; Calls that differ only in their instances share a row.
func (t *Table) addRows(list []client.Approval, fieldsByCall [][]Field, differs map[string]bool) {
	indexByContent := map[string]int{}
	for n, a := range list {
		row := Row{CallID: a.CallID, Instances: []string{a.Instance}, Values: jsonval.Object{}}
		for _, f := range fieldsByCall[n] {
			switch {
			case differs[f.Name]:
				row.Values[f.Name] = f.Value
			case n == 0:
				t.SharedFields = append(t.SharedFields, f)
			}
		}
		key, _ := ideafile.ParseCallKey(a.CallID)
		content := key.ID("") + jsonval.EncodeToString(row.Values)
		if index, seen := indexByContent[content]; seen {
			t.Rows[index].CallID = key.ID("")
			t.Rows[index].Instances = append(t.Rows[index].Instances, a.Instance)
			continue
		}
		indexByContent[content] = len(t.Rows)
		t.Rows = append(t.Rows, row)
	}
}

// fieldsOf lists the fields of a Call.
func fieldsOf(a client.Approval) []Field {
	fields := []Field{{FieldTool, a.Tool}}
	fields = appendMembers(fields, "", a.Params, 1)
	add := func(name string, v any, isPresent bool) {
		if isPresent {
			fields = append(fields, Field{name, jsonval.ToJSONValue(v)})
		}
	}
	writesTo := ""
	if len(a.OutputPath) > 0 {
		writesTo = a.OutputPath.ReferenceText()
		if a.OutputMethod != "" {
			writesTo += " (" + a.OutputMethod + ")"
		}
	}
	add(FieldWritesTo, writesTo, writesTo != "")
	add(FieldScopes, a.ScopeValues, a.ScopeValues != nil)
	add(FieldOutput, a.Output, a.Output != nil)
	if a.ParamsAdaptation != nil {
		add(FieldAdaptedFrom, a.ParamsAdaptation.OriginalParams, true)
	}
	add(FieldReason, strings.Join(a.Explanation(), "; "), len(a.Explanation()) > 0)
	add(FieldDeciders, a.Deciders.String(), len(a.Deciders) > 0)
	soFar := jsonval.Map(a.DecidedSoFar, approval.Vote.InWords)
	add(FieldDecidedSoFar, soFar, len(soFar) > 0)
	add(FieldTimeout, a.OnTimeout, a.Deadline != nil)
	add(FieldAllowed, a.AllowedDecisions, len(a.AllowedDecisions) < len(policy.DecisionKinds()))
	return fields
}

// appendMembers adds an object's members; a nested object is replaced by its members. The names within one Call are
// unique, so that no field hides another: a key that could be mistaken for a path is quoted.
func appendMembers(fields []Field, prefix string, m jsonval.Object, depth int) []Field {
	for k, v := range jsonval.Sorted(m) {
		name := prefix + k
		if strings.ContainsAny(k, ".\"[]") || k == "" || depth == 1 && slices.Contains(reservedNames, k) {
			name = prefix + strconv.Quote(k)
		}
		inner, isObject := v.(jsonval.Object)
		if isObject && len(inner) > 0 && depth < maxDepth {
			fields = appendMembers(fields, name+".", inner, depth+1)
			continue
		}
		fields = append(fields, Field{name, v})
	}
	return fields
}
