package ideafile

import (
	"slices"
	"strings"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile/limit"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// Tool names a capability. It is written as a JSON Schema of its parameters, with meta properties that begin with `_`.
type Tool struct {
	Name        string
	Description string
	// TitleTemplate is a template of the sentence that describes a Call to people (`_title`); empty: none.
	TitleTemplate string
	// Source is the Tool as it was written.
	Source jsonval.Object
	// OutputSchema is the schema of the result (`_output`); nil: any result.
	OutputSchema *jsonschema.Schema
	// OutputPath, OutputMethod and ReadableScopes declare who chooses these meta properties of a Call.
	OutputPath, OutputMethod, ReadableScopes MetaProperty
	// Timeout is for one attempt of the Tool's activity.
	Timeout time.Duration
	// MaxAttempts is the number of the Tool's own failures after which its Call has failed. 1 means that it is never
	// run twice.
	MaxAttempts int
	// RateLimit is the limit that all Calls of Tools of this name share (`_rate`); nil: no limit.
	RateLimit *limit.Rule
	// RawActivity is `_activity` as written: nil, the name of a Go function, or {"<kind>": spec}.
	RawActivity any
	// DelegateFile is `_delegate`: the Idea file that a Call runs, or AnonymousDelegate; empty for a Tool that is no
	// delegate.
	DelegateFile string
	// DelegateWritablePaths are the paths of its parent's State that a delegate may write (`_writes`).
	DelegateWritablePaths []jsonval.Path
	// Approval is when a person must review a Call; nil: never.
	Approval *policy.Approval
	// Undo is how a Call can be undone; nil: the file does not say, see EffectiveUndo.
	Undo *UndoMethod

	// ParamsSchema describes all parameters together, SchemaByParam each declared one.
	ParamsSchema  *jsonschema.Schema
	SchemaByParam map[string]*jsonschema.Schema
	// WiredExpressionByParam holds the References of parameters that the Tool's designer wired. The LLM neither sees
	// nor writes them.
	WiredExpressionByParam map[string]string
	// AllowsExtraParams reports whether a Call may have undeclared parameters.
	AllowsExtraParams bool
}

const (
	defaultToolTimeout     = 60 * time.Second
	defaultToolMaxAttempts = 3
)

// ToolMetaKeys lists the meta properties of a Tool.
var ToolMetaKeys = strings.Fields(`_activity _approval _delegate _order _output _outputMethod _outputPath
	_rate _retry _scopes _timeout _title _undo _writes`)

// JSONPath is the Tool's place in an Idea file.
func (t *Tool) JSONPath() string { return jsonval.JSONPathWithKey(ToolsJSONPath, t.Name) }

// MaxToolNameBytes is how long the name of a Tool may be, in bytes.
const MaxToolNameBytes = 64

// ReadTool reads one Tool of the palette. Its problems are added to ps, with their places under path. A nil ps is for a
// Tool that was checked before: its schemas are compiled when they are first used.
func ReadTool(name string, raw any, path string, ps *diag.Problems) *Tool {
	source, ok := raw.(jsonval.Object)
	if !ok {
		ps.AddWrongType(path, "a tool is an object", raw)
		return nil
	}
	t := &Tool{Name: name, Source: source, Timeout: defaultToolTimeout, MaxAttempts: defaultToolMaxAttempts}
	if name == "" || strings.HasPrefix(name, "_") || len(name) > MaxToolNameBytes {
		ps.Add(path, "a tool's name has 1 to %d bytes and does not begin with _", MaxToolNameBytes)
	}
	t.Description = jsonval.AsText(source["description"])
	t.readParams(path, ps)
	t.readMeta(path, ps)
	return t
}

// FindTool returns the Tool of a name, or nil.
func FindTool(tools []*Tool, name string) *Tool {
	for _, t := range tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (t *Tool) readMeta(path string, ps *diag.Problems) {
	for k := range jsonval.Sorted(t.Source) {
		if strings.HasPrefix(k, "_") && !slices.Contains(ToolMetaKeys, k) {
			ps.AddAtKey(path, k, "unknown meta property; a tool has %s",
				strings.Join(ToolMetaKeys, ", "))
		}
	}
	t.readDelegate(path, ps)
	t.readDelegateWritablePaths(path, ps)
	t.Approval = policy.ReadApproval(t.Source["_approval"], path+"._approval", ps)
	t.dropUnsatisfiableCondition(path+"._approval", ps)
	if out := t.Source["_output"]; out != nil {
		t.OutputSchema = jsonschema.CompileReportingProblems(out, path+"._output", ps)
	}
	t.OutputPath = readMetaProperty(t.Source, "_outputPath", path, ps, func(v any) error {
		_, err := refexpr.ParseOutputPath(v)
		return err
	})
	t.OutputMethod = readMetaProperty(t.Source, "_outputMethod", path, ps, statelog.CheckOutputMethod)
	t.ReadableScopes = readMetaProperty(t.Source, "_scopes", path, ps, func(v any) error {
		_, err := parseScopes(v)
		return err
	})
	t.TitleTemplate = readDisplayTemplate(t.Source["_title"], path+"._title", ps)
	t.readActivity(path, ps)
	t.readTimeout(path, ps)
	t.readRetry(path, ps)
	t.RateLimit = limit.ReadRule(t.Source["_rate"], path+"._rate", ps)
	t.Undo = ReadUndo(t.Source["_undo"], path+"._undo", ps)
}

func (t *Tool) readActivity(path string, ps *diag.Problems) {
	t.RawActivity = t.Source["_activity"]
	activityPath := path + "._activity"
	switch a := t.RawActivity.(type) {
	case nil:
	case string:
		if a == "" {
			ps.Add(activityPath, "an activity's name is not empty")
		}
	case jsonval.Object:
		// The runner that is registered for a kind checks the kind and its spec.
		kind, spec, ok := t.activityKind()
		if !ok {
			ps.Add(activityPath, activityFormError)
		}
		if kind == KindMCP {
			checkMCPToolRef(spec, activityPath+".mcp", ps)
		}
	default:
		ps.AddWrongType(activityPath, activityFormError, a)
	}
}

const activityFormError = `want a name, or one kind of tool with its settings, as {"http": {…}} or {"mcp": {…}}`

// activityKind reads `_activity: {"<kind>": spec}`; ok is false for any other form.
func (t *Tool) activityKind() (kind ToolKind, spec any, ok bool) {
	a := jsonval.AsObject(t.RawActivity)
	if len(a) != 1 {
		return "", nil, false
	}
	k := ToolKind(jsonval.SortedKeys(a)[0])
	return k, a[string(k)], k != "" && k != KindGo && k.HasRunner()
}

func (t *Tool) readTimeout(path string, ps *diag.Problems) {
	v := t.Source["_timeout"]
	if v == nil {
		return
	}
	var err error
	if t.Timeout, err = jsonval.ReadDuration(v); err != nil {
		ps.Add(path+"._timeout", "%s", err)
	}
}

func (t *Tool) readRetry(path string, ps *diag.Problems) {
	v := t.Source["_retry"]
	if v == nil {
		return
	}
	retry, ok := v.(jsonval.Object)
	n, err := jsonval.ReadPositiveInt(retry["attempts"])
	switch {
	case !ok || len(retry) != 1 || retry["attempts"] == nil:
		ps.Add(path+"._retry", `want {"attempts": N} with N from 1`)
		return
	case err != nil:
		ps.Add(path+"._retry.attempts", "%s", err)
		return
	}
	t.MaxAttempts = n
}
