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

// Table shows many Calls that wait. Values are JSON's.
type Table struct {
	Calls int `json:"calls"` // how many
	// Alike is what is the same in all of them.
	Alike []Field `json:"alike"`
	// Columns are the names of what differs, in the order of the first Call that has it.
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Field is one thing that is known of a Call: a parameter, or a member of one (customer.name), or what one of the names
// below says.
type Field struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// Names of fields that are no parameters.
const (
	FieldTool     = "Tool"
	FieldWritesTo = "Writes to" // where the result goes in State
	FieldScopes   = "Scopes"    // what the Tool is given beside its parameters
	FieldOutput   = "Result"    // what the LLM wrote as the result
	FieldFitted   = "Fitted by the LLM from"
	FieldWhy      = "Why" // a person is asked, where it is not because of the Tool's policy
	FieldDeciders = "Decided by"
	FieldSoFar    = "So far"          // who has decided already
	FieldTimeout  = "At the deadline" // what happens by itself
	// of all, as "from the first to the last": never a column, since few wait since the same second
	FieldDeadline = "Deadline"
	FieldAllowed  = "Allowed" // decisions, where not all are
)

var ownNames = []string{
	FieldTool, FieldWritesTo, FieldScopes, FieldOutput, FieldFitted, FieldWhy, FieldDeciders, FieldSoFar, FieldTimeout,
	FieldDeadline, FieldAllowed,
}

// Row is one Call, or one that waits in several instances and is alike there.
type Row struct {
	// Call is its id, 1.2@⑬, without an instance where there are several.
	Call      string         `json:"call"`
	Instances []string       `json:"instances"`
	Values    map[string]any `json:"values"` // by the column; one that the Call does not have is missing
}

// maxDepth is how deep the members of parameters have fields of their own.
const maxDepth = 3

// TableOf makes the table of some approvals.
func TableOf(list []client.Approval) Table {
	t := Table{Calls: len(list), Alike: []Field{}, Columns: []string{}, Rows: []Row{}}
	all := make([][]Field, len(list))
	values := map[string]map[string]int{} // by name and value: how many have it
	var names []string
	for n, a := range list {
		all[n] = fieldsOf(a)
		for _, f := range all[n] {
			if values[f.Name] == nil {
				values[f.Name] = map[string]int{}
				names = append(names, f.Name)
			}
			values[f.Name][jsonval.EncodeToString(f.Value)]++
		}
	}
	differs := map[string]bool{}
	for _, name := range names {
		have := 0
		for _, n := range values[name] {
			have += n
		}
		if differs[name] = len(values[name]) > 1 || have < len(list); differs[name] {
			t.Columns = append(t.Columns, name)
		}
	}
	t.addRows(list, all, differs)
	if when := deadlines(list); when != "" {
		t.Alike = append(t.Alike, Field{FieldDeadline, when})
	}
	return t
}

// deadlines tells when the time of some Calls is over: of the first and of the last; "" where none has a deadline.
func deadlines(list []client.Approval) string {
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

// addRows makes a row of each Call, or of several that are alike but for their instances.
func (t *Table) addRows(list []client.Approval, all [][]Field, differs map[string]bool) {
	rows := map[string]int{}
	for n, a := range list {
		row := Row{Call: a.CallID, Instances: []string{a.Instance}, Values: jsonval.Object{}}
		for _, f := range all[n] {
			switch {
			case differs[f.Name]:
				row.Values[f.Name] = f.Value
			case n == 0:
				t.Alike = append(t.Alike, f)
			}
		}
		key, _ := ideafile.ParseCallKey(a.CallID)
		same := key.ID("") + jsonval.EncodeToString(row.Values)
		if at, seen := rows[same]; seen {
			t.Rows[at].Call = key.ID("")
			t.Rows[at].Instances = append(t.Rows[at].Instances, a.Instance)
			continue
		}
		rows[same] = len(t.Rows)
		t.Rows = append(t.Rows, row)
	}
}

// fieldsOf lists what is known of a Call.
func fieldsOf(a client.Approval) []Field {
	fields := []Field{{FieldTool, a.Tool}}
	fields = appendMembers(fields, "", a.Params, 1)
	add := func(name string, v any, has bool) {
		if has {
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
		add(FieldFitted, a.ParamsAdaptation.OriginalParams, true)
	}
	add(FieldWhy, strings.Join(a.Explanation(), "; "), len(a.Explanation()) > 0)
	add(FieldDeciders, a.Deciders.String(), len(a.Deciders) > 0)
	soFar := jsonval.Map(a.DecidedSoFar, approval.Vote.InWords)
	add(FieldSoFar, soFar, len(soFar) > 0)
	add(FieldTimeout, a.OnTimeout, a.Deadline != nil)
	add(FieldAllowed, a.AllowedDecisions, len(a.AllowedDecisions) < len(policy.AllKinds()))
	return fields
}

// appendMembers adds an object's members, and the members of nested objects in place of these. The names within one
// Call are unique, so that none hides another: a key that could be mistaken for a path is quoted.
func appendMembers(fields []Field, under string, m jsonval.Object, depth int) []Field {
	for k, v := range jsonval.Sorted(m) {
		name := under + k
		if strings.ContainsAny(k, ".\"[]") || k == "" || depth == 1 && slices.Contains(ownNames, k) {
			name = under + strconv.Quote(k)
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
