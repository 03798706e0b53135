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
	// ColumnNames are the names of the fields that differ, in the order of the first Call that has them.
	ColumnNames []string `json:"columns"`
	Rows        []Row    `json:"rows"`
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
	FieldReviewReason = "Why" // why a person is asked, if not because of the Tool's policy
	FieldDeciders     = "Decided by"
	FieldDecidedSoFar = "So far"          // who has decided already
	FieldOnTimeout    = "At the deadline" // what happens by itself
	// The deadlines of all Calls, "first to last": never a column, since Calls seldom wait since the same second.
	FieldDeadline         = "Deadline"
	FieldAllowedDecisions = "Allowed" // the allowed decisions, if not all are
)

var reservedFieldNames = []string{
	FieldTool, FieldWritesTo, FieldScopes, FieldOutput, FieldAdaptedFrom, FieldReviewReason, FieldDeciders,
	FieldDecidedSoFar,
	FieldOnTimeout,
	FieldDeadline, FieldAllowedDecisions,
}

// Row is one Call, or one Call that waits in several instances with equal fields.
type Row struct {
	// CallID is its id, 1.2@⑬; without an instance if there are several.
	CallID         string         `json:"call"`
	InstanceTokens []string       `json:"instances"`
	Values         map[string]any `json:"values"` // by column; a field that the Call does not have is missing
}

// maxFieldDepth is the depth down to which members of parameters are fields of their own.
const maxFieldDepth = 3

// TableOf makes the table of some approvals.
func TableOf(approvals []client.Approval) Table {
	t := Table{CallCount: len(approvals), SharedFields: []Field{}, ColumnNames: []string{}, Rows: []Row{}}
	fieldsByCall := make([][]Field, len(approvals))
	countByFieldAndValue := map[string]map[string]int{} // by name and value: how many have it
	var fieldNames []string
	for n, a := range approvals {
		fieldsByCall[n] = fieldsOf(a)
		for _, f := range fieldsByCall[n] {
			if countByFieldAndValue[f.Name] == nil {
				countByFieldAndValue[f.Name] = map[string]int{}
				fieldNames = append(fieldNames, f.Name)
			}
			countByFieldAndValue[f.Name][jsonval.EncodeToString(f.Value)]++
		}
	}
	differsByField := map[string]bool{}
	for _, name := range fieldNames {
		presentCount := 0
		for _, n := range countByFieldAndValue[name] {
			presentCount += n
		}
		if differsByField[name] = len(countByFieldAndValue[name]) > 1 ||
			presentCount < len(approvals); differsByField[name] {
			t.ColumnNames = append(t.ColumnNames, name)
		}
	}
	t.addRows(approvals, fieldsByCall, differsByField)
	if deadline := deadlineRange(approvals); deadline != "" {
		t.SharedFields = append(t.SharedFields, Field{FieldDeadline, deadline})
	}
	return t
}

// deadlineRange returns the first and the last deadline of some Calls; "" if no Call has one.
func deadlineRange(approvals []client.Approval) string {
	var deadlines []time.Time
	for _, a := range approvals {
		if a.Deadline != nil {
			deadlines = append(deadlines, *a.Deadline)
		}
	}
	if len(deadlines) == 0 {
		return ""
	}
	slices.SortFunc(deadlines, time.Time.Compare)
	first, last := deadlines[0].UTC().Format(time.RFC3339), deadlines[len(deadlines)-1].UTC().Format(time.RFC3339)
	if first == last {
		return first
	}
	return first + " to " + last
}

// addRows adds a row for each Call; Calls that differ only in their instances share a row.
func (t *Table) addRows(approvals []client.Approval, fieldsByCall [][]Field, differsByField map[string]bool) {
	rowIndexByContent := map[string]int{}
	for n, a := range approvals {
		row := Row{CallID: a.CallID, InstanceTokens: []string{a.Instance}, Values: jsonval.Object{}}
		for _, f := range fieldsByCall[n] {
			switch {
			case differsByField[f.Name]:
				row.Values[f.Name] = f.Value
			case n == 0:
				t.SharedFields = append(t.SharedFields, f)
			}
		}
		key, _ := ideafile.ParseCallKey(a.CallID)
		rowContent := key.ID("") + jsonval.EncodeToString(row.Values)
		if index, seen := rowIndexByContent[rowContent]; seen {
			t.Rows[index].CallID = key.ID("")
			t.Rows[index].InstanceTokens = append(t.Rows[index].InstanceTokens, a.Instance)
			continue
		}
		rowIndexByContent[rowContent] = len(t.Rows)
		t.Rows = append(t.Rows, row)
	}
}

// fieldsOf lists the fields of a Call.
func fieldsOf(a client.Approval) []Field {
	fields := []Field{{FieldTool, a.Tool}}
	fields = appendMembers(fields, "", a.Params, 1)
	addField := func(name string, v any, isPresent bool) {
		if isPresent {
			fields = append(fields, Field{name, jsonval.ToJSONValue(v)})
		}
	}
	outputPathText := ""
	if len(a.OutputPath) > 0 {
		outputPathText = a.OutputPath.ReferenceText()
		if a.OutputMethod != "" {
			outputPathText += " (" + a.OutputMethod + ")"
		}
	}
	addField(FieldWritesTo, outputPathText, outputPathText != "")
	addField(FieldScopes, a.ScopeValues, a.ScopeValues != nil)
	addField(FieldOutput, a.Output, a.Output != nil)
	if a.ParamsAdaptation != nil {
		addField(FieldAdaptedFrom, a.ParamsAdaptation.OriginalParams, true)
	}
	addField(FieldReviewReason, strings.Join(a.Explanation(), "; "), len(a.Explanation()) > 0)
	addField(FieldDeciders, a.Deciders.String(), len(a.Deciders) > 0)
	votesInWords := jsonval.Map(a.VotesSoFar, approval.Vote.InWords)
	addField(FieldDecidedSoFar, votesInWords, len(votesInWords) > 0)
	addField(FieldOnTimeout, a.TimeoutAction, a.Deadline != nil)
	addField(FieldAllowedDecisions, a.AllowedDecisions, len(a.AllowedDecisions) < len(policy.DecisionKinds()))
	return fields
}

// appendMembers adds an object's members; a nested object is replaced by its members. The names within one Call are
// unique, so that no field hides another: a key that could be mistaken for a path is quoted.
func appendMembers(fields []Field, prefix string, m jsonval.Object, depth int) []Field {
	for k, v := range jsonval.Sorted(m) {
		name := prefix + k
		if strings.ContainsAny(k, ".\"[]") || k == "" || depth == 1 && slices.Contains(reservedFieldNames, k) {
			name = prefix + strconv.Quote(k)
		}
		inner, isObject := v.(jsonval.Object)
		if isObject && len(inner) > 0 && depth < maxFieldDepth {
			fields = appendMembers(fields, name+".", inner, depth+1)
			continue
		}
		fields = append(fields, Field{name, v})
	}
	return fields
}
