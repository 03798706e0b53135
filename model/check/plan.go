package check

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// planChecker checks one Plan. Several Plans are alternatives: each is checked by itself.
type planChecker struct {
	*checker
	palette                  ideafile.Palette
	planJSONPath             string
	runsDirectly             bool
	applicableInstanceTokens []string // the instances that the Plan's condition matches
	calls                    []*planCall
}

// planCall is one Call of the Plan, as far as it could be read.
type planCall struct {
	jsonPath       string
	index          int
	rawCall        jsonval.Object
	tool           *ideafile.Tool // nil: unknown
	instanceTokens []string       // the instances the Call is for; nil: unknown
	reads          []parameterRead
	outputPath     refexpr.OutputPath
	outputMethod   string
	// outputPathLocation is where the file gives the output path: a key of the Call, or the Call itself where the
	// designer fixed the path.
	outputPathLocation string
	isInvalid          bool
}

// parameterRead is a Reference or an expression in a Call's parameters.
type parameterRead struct {
	expr             refexpr.Expression
	jsonPath         string       // in the file
	paramPath        jsonval.Path // in the parameters
	isFromWiredParam bool
	acceptsAnyType   bool // it is part of a text, which takes a value of any type
}

func (s *planCall) String() string {
	name := jsonval.AsText(s.rawCall["_tool"])
	return fmt.Sprintf("plan[%d] (%s)", s.index, jsonval.Clip(name, 40))
}

// isCall reports whether the step is a Call, and not the output of the Plan.
func (s *planCall) isCall() bool { return s.rawCall != nil || s.isInvalid }

// isUpdate reports whether the Call's write is a declared update.
func (s *planCall) isUpdate() bool {
	return len(s.outputPath) > 0 && statelog.IsUpdateWrite(s.outputMethod, s.outputPath[0][0])
}

// maxPlanCalls bounds a Plan of a file: each Call takes a kilobyte or more until all are checked against each other.
const maxPlanCalls = 10_000

func (c *checker) checkPlan(m locatedMessage) {
	if n := len(m.PlanCalls); n > maxPlanCalls {
		c.addError(m.jsonPath()+".plan",
			`a Plan has at most %d Calls, not %d; one Call with "_instance": "*" runs in every instance`,
			maxPlanCalls, n)
		return
	}
	tokens := c.instanceTokens
	if m.InstanceToken != "" {
		tokens = []string{m.InstanceToken}
	}
	p := &planChecker{checker: c, planJSONPath: m.jsonPath() + ".plan", runsDirectly: m.IsDirectPlan(),
		applicableInstanceTokens: c.instanceTokensForPlan(m, tokens), palette: ideafile.Palette{
			Tools: c.idea.Tools, BindingByTool: c.bindingsOrDefault(), InstanceTokens: tokens,
			UntargetedCallsGoToAll: true,
			AllowsDirectPlanKeys:   m.IsDirectPlan(),
		}}
	for n, call := range m.PlanCalls {
		if len(call.TargetTokens) == 1 && c.isForgotten(call.TargetTokens[0]) {
			continue
		}
		p.calls = append(p.calls, p.readCall(n, call))
	}
	p.checkCallConditions()
	p.checkFitsOutputSchema(m.PlanOutput, m.jsonPath()+".output")
	p.checkDataflow(p.readPlanOutput(m))
}

// addCallError reports an error in the Call itself.
func (p *planChecker) addCallError(s *planCall, path, format string, args ...any) {
	s.isInvalid = true
	p.addError(path, format, args...)
}

func (p *planChecker) readCall(n int, call ideafile.WrittenCall) *planCall {
	s := &planCall{jsonPath: fmt.Sprintf("%s[%d]", p.planJSONPath, n), index: n,
		instanceTokens: p.palette.InstanceTokens}
	s.outputPathLocation = s.jsonPath
	s.rawCall = call.RawObject()
	if s.rawCall == nil {
		p.addCallError(s, s.jsonPath, "a Call is an object, not %s", jsonval.TypeOf(call.AsWritten()))
		return s
	}
	p.resolveInstances(s, call)
	p.resolveTool(s)
	p.rejectUnknownMetaProperties(s)
	p.checkParams(s)
	p.readMetaProperties(s)
	if _, _, f := p.palette.ReadCall(call); f != nil && !s.isInvalid {
		p.addCallError(s, s.jsonPath, "%s", f.Message)
	}
	return s
}

// resolveInstances finds the instances that a Call is for, and reports unknown names.
func (p *planChecker) resolveInstances(s *planCall, call ideafile.WrittenCall) {
	tokens, f := p.palette.TargetInstances(call)
	if f == nil {
		s.instanceTokens = tokens
		return
	}
	s.instanceTokens = nil
	knownTokens, location := p.palette.InstanceTokens, s.jsonPath+"._instance"
	token, isNamed := s.rawCall["_instance"].(string)
	if n := slices.IndexFunc(call.TargetTokens, func(t string) bool {
		return !slices.Contains(knownTokens,
			t)
	}); n >= 0 {
		token, isNamed = call.TargetTokens[n], true
	}
	switch {
	case !isNamed:
		p.addCallError(s, location, "%s", f.Message)
	case len(knownTokens) == 1 && knownTokens[0] == "":
		p.addCallError(s, location,
			"unknown instance %q: no message of the context names an instance; leave _instance out",
			jsonval.ClipForError(token))
	case slices.Contains(p.checker.instanceTokens, token):
		p.addCallError(s, location, "the Plan is for instance %s only, but its Call is for %q", knownTokens[0],
			jsonval.ClipForError(token))
	default:
		p.addCallError(s, location, "unknown instance %q%s", jsonval.ClipForError(token),
			suggestInstance(token, knownTokens))
	}
}

// suggestInstance suggests the nearest token, or else lists the first ones.
func suggestInstance(token string, knownTokens []string) string {
	if s := diag.DidYouMean(token, knownTokens); s != "" {
		return s
	}
	return "; there are " + diag.SummarizeNames(knownTokens) + ` and "*" for all`
}

func (p *planChecker) resolveTool(s *planCall) {
	name, ok := s.rawCall["_tool"].(string)
	s.tool = p.idea.Tool(name)
	s.isInvalid = s.isInvalid || s.tool == nil // if a server may offer the Tool, the rest cannot be checked either
	if !ok {
		p.addError(s.jsonPath, `the Call names no tool: it needs "_tool"%s`, p.idea.SuggestTool(""))
		return
	}
	p.addProblems(p.idea.UnknownToolProblems(name, s.jsonPath+"._tool"))
}

func (p *planChecker) rejectUnknownMetaProperties(s *planCall) {
	knownKeys := p.palette.CallMetaKeys()
	for k, v := range jsonval.Sorted(s.rawCall) {
		switch location := jsonval.JSONPathWithKey(s.jsonPath, k); {
		case !strings.HasPrefix(k, "_") || v == nil || slices.Contains(knownKeys, k):
		case k == ideafile.WhenKey || k == ideafile.UnlessKey || k == ideafile.UndoesKey:
			p.addCallError(s, location, "only a Call of a Plan with a stage, which runs without the LLM, may "+
				"have %s", k)
		default:
			p.addCallError(s, location, "a Call has no meta property %q%s", jsonval.ClipForError(k),
				diag.DidYouMean(k, knownKeys))
		}
	}
}

// checkParams reads the parameters one by one, so that each gets its own error.
func (p *planChecker) checkParams(s *planCall) {
	for k, v := range jsonval.Sorted(s.rawCall) {
		if strings.HasPrefix(k, "_") || s.isOutputPathAlias(k) {
			continue
		}
		jsonPath := jsonval.JSONPathWithKey(s.jsonPath, k)
		if !p.collectReferences(s, jsonPath, v, jsonval.Path{k}) || s.tool == nil {
			continue
		}
		if _, _, f := s.tool.ReadParam(k, v); f != nil {
			p.addCallError(s, jsonPath, "%s%s", f.Message, s.suggestParam(k))
		}
	}
	if s.tool == nil {
		return
	}
	for k, wiredValue := range jsonval.Sorted(s.tool.WiredExpressionByParam) {
		expressions, _ := refexpr.FindExpressions(wiredValue) // the Tool's own check names an error
		for _, e := range expressions {
			if e.HasReferenceOfKind(ideafile.TypeState) {
				s.reads = append(s.reads, parameterRead{expr: e, jsonPath: s.jsonPath, paramPath: jsonval.Path{k},
					isFromWiredParam: true, acceptsAnyType: refexpr.IsTemplate(wiredValue)})
			}
		}
	}
	p.checkMissingParams(s)
}

// collectReferences collects the References in a value. It returns false if one of them is malformed.
func (p *planChecker) collectReferences(s *planCall, jsonPath string, v any, paramPath jsonval.Path) bool {
	ok := true
	switch v := v.(type) {
	case string:
		expressions, err := refexpr.FindExpressions(v)
		ok = err == nil
		if !ok {
			p.addCallError(s, jsonPath, "%s", err)
		}
		for _, e := range expressions {
			s.reads = append(s.reads, parameterRead{expr: e, jsonPath: jsonPath, paramPath: paramPath,
				acceptsAnyType: refexpr.IsTemplate(v)})
		}
		if refexpr.IsTemplate(v) {
			ok = p.checkParamAcceptsType(s, jsonPath, v, paramPath, "a text with values in it is a string") && ok
		}
	case jsonval.Object:
		ok = p.checkParamAcceptsType(s, jsonPath, v, paramPath, "an object with a Reference in it is of type object")
		for k, value := range jsonval.Sorted(v) {
			ok = p.collectReferences(s, jsonval.JSONPathWithKey(jsonPath, k), value,
				paramPath.WithStep(k)) && ok
		}
	case []any:
		ok = p.checkParamAcceptsType(s, jsonPath, v, paramPath, "a list with a Reference in it is of type array")
		for n, e := range v {
			step := fmt.Sprint(n)
			ok = p.collectReferences(s, jsonPath+"["+step+"]", e, paramPath.WithStep(step)) && ok
		}
	}
	return ok
}

// checkParamAcceptsType reports a value with References in it if the parameter does not take its type: whatever the
// References resolve to, it stays a list, an object or a text. valueDescription describes the value.
func (p *planChecker) checkParamAcceptsType(s *planCall, jsonPath string, v any, paramPath jsonval.Path,
	valueDescription string) bool {
	if s.tool == nil {
		return true
	}
	if refs, err := refexpr.FindReferences(v); err != nil || len(refs) == 0 {
		return true // it is checked as a plain value
	}
	wantedTypes := jsonschema.TypesAt(s.tool.Source, paramPath)
	if jsonschema.CompareTypes([]string{jsonval.TypeOf(v)}, wantedTypes) != jsonschema.FitsNever {
		return true
	}
	p.addCallError(s, jsonPath, "%s; the parameter %q wants %s", valueDescription, paramPath,
		jsonschema.JoinWithOr(wantedTypes))
	return false
}

func (p *planChecker) checkMissingParams(s *planCall) {
	for _, name := range jsonschema.Required(s.tool.Source) {
		_, isWired := s.tool.WiredExpressionByParam[name]
		_, isPresent := s.rawCall[name]
		_, isDeclared := s.tool.SchemaByParam[name]
		if !isWired && (!isPresent || s.isOutputPathAlias(name)) && (isDeclared || s.tool.AllowsExtraParams) {
			p.addCallError(s, s.jsonPath, "parameter %q is missing", name)
		}
	}
}

// isOutputPathAlias reports whether a key is the parameter `output` in the place of `_outputPath`.
func (s *planCall) isOutputPathAlias(key string) bool {
	return s.tool.IsOutputPathAlias(key, s.rawCall[key])
}

// suggestParam suggests a parameter for one that the Tool does not have.
func (s *planCall) suggestParam(name string) string {
	if _, isDeclared := s.tool.SchemaByParam[name]; isDeclared {
		return ""
	}
	var names []string
	for k := range jsonval.Sorted(s.tool.SchemaByParam) {
		if _, isPresent := s.rawCall[k]; !isPresent && s.tool.WiredExpressionByParam[k] == "" {
			names = append(names, k)
		}
	}
	return diag.DidYouMeanOrListWithIntro(name, names, "it has")
}

// readMetaProperties reads where the result goes and the other meta properties that a Tool may leave to its Calls. For
// an unknown Tool, the Call's own path counts.
func (p *planChecker) readMetaProperties(s *planCall) {
	tool := s.tool
	if tool == nil {
		tool = &ideafile.Tool{}
	}
	if s.rawCall["_outputPath"] != nil {
		s.outputPathLocation = s.jsonPath + "._outputPath"
	} else if s.isOutputPathAlias("output") {
		s.outputPathLocation = s.jsonPath + ".output"
	}
	var c ideafile.Call
	for key, f := range tool.OutputMetaFaults(&c, s.rawCall) {
		switch {
		case key == "_outputPath" && s.outputPathLocation != s.jsonPath: // else the Tool's own check names it
			p.addCallError(s, s.outputPathLocation, "%s", f.Message)
		case s.tool != nil && key != "_outputPath" && s.rawCall[key] != nil:
			p.addCallError(s, s.jsonPath+"."+key, "%s", f.Message)
		}
	}
	s.outputPath, s.outputMethod = c.OutputPath, c.OutputMethod
	if s.tool == nil {
		return
	}
	if s.rawCall["_scopes"] != nil {
		p.checkScopes(c.ReadableScopes, s.jsonPath+"._scopes")
	}
	p.readAfterProperty(s)
	if f := s.tool.ReadLatentResult(&c, s.rawCall, p.palette.BindingByTool[s.tool.Name].Kind); f != nil {
		p.addCallError(s, s.jsonPath+"._output", "%s", f.Message)
	}
}

// readAfterProperty reads `_after`, as reads whose values the Call does not take.
func (p *planChecker) readAfterProperty(s *planCall) {
	list, f := ideafile.ParseAfterReferences(s.rawCall["_after"])
	if f != nil {
		p.addCallError(s, s.jsonPath+"._after", "%s", f.Message)
	}
	for _, text := range list {
		ref, err := refexpr.ParseReference(text)
		if key, isCall := ideafile.CallOfReference(ref); isCall && key.Request > 0 && p.runsDirectly {
			p.addCallError(s, s.jsonPath+"._after",
				"%s: the Calls of a Plan that runs by itself are 0.1, 0.2, …; write †call.0.%d", ref, key.Index)
		}
		if err == nil {
			s.reads = append(s.reads, parameterRead{expr: refexpr.Expression{{ref}}, jsonPath: s.jsonPath + "._after",
				acceptsAnyType: true})
		}
	}
}

// readPlanOutput reads the output of a Plan that runs without a Request. The output is a step after all Calls, and only
// reads.
func (p *planChecker) readPlanOutput(m locatedMessage) *planCall {
	s := &planCall{jsonPath: m.jsonPath() + ".output", index: len(m.PlanCalls),
		instanceTokens: p.palette.InstanceTokens}
	p.collectReferences(s, s.jsonPath, m.Source["output"], nil)
	return s
}
