package check

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// checkDisplay reports errors in how values, Calls and instances are displayed. The process would still run, but people
// would decide on the wrong words.
func (c *checker) checkDisplay() {
	for _, t := range c.idea.Tools {
		path := t.JSONPath()
		c.checkDisplayAnnotations(t.Source, path)
		c.checkDisplayAnnotations(t.Source["_output"], path+"._output")
		c.checkDisplayTemplate(t.TitleTemplate, path+"._title", t)
	}
	if out := c.idea.OutputSchema; out != nil {
		c.checkDisplayAnnotations(out.Source, "$.schema.output")
	}
	for _, m := range c.messages {
		if m.PayloadSchema != nil {
			c.checkDisplayAnnotations(m.PayloadSchema, m.jsonPath()+".schema")
		}
	}
	c.checkDisplayTemplate(c.idea.Config.InstanceNameTemplate, "$.config.instanceName", nil)
}

func (c *checker) checkDisplayAnnotations(schema any, path string) {
	jsonschema.EachSubschema(schema, path, func(partPath string, part jsonval.Object) {
		if key, problem := shown.FindAnnotationProblem(part); problem != "" {
			c.addError(jsonval.JSONPathWithKey(partPath, key), "%s", problem)
		}
	})
}

// checkDisplayTemplate reports each Reference of a template that leads to nothing. t is the Tool whose parameters the
// template may read; nil: the template names an instance.
func (c *checker) checkDisplayTemplate(text, path string, t *ideafile.Tool) {
	if text == "" {
		return
	}
	parsedTemplate, err := refexpr.ParseTemplate(text)
	if err != nil {
		return // reported when the file was read
	}
	for _, r := range parsedTemplate.References() {
		c.checkDisplayTemplateRead(r, path, t)
	}
}

func (c *checker) checkDisplayTemplateRead(r refexpr.Reference, path string, t *ideafile.Tool) {
	paramNames, paramPath, allowsExtraParams := []string{}, append(jsonval.Path{r.Kind}, r.Path...), false
	if t != nil {
		paramNames, allowsExtraParams = jsonval.SortedKeys(jsonschema.Properties(t.Source)), t.AllowsExtraParams
	}
	isParam := slices.Contains(paramNames, r.Kind)
	switch {
	case !isParam && (r.Kind == ideafile.TypeInput || r.Kind == ideafile.TypeState):
		c.checkInstanceDataRead(r, path)
		return
	case !isParam && t != nil && r.Kind == ideafile.ParamsReferenceKind:
		paramPath = r.Path
	}
	if t != nil && (allowsExtraParams || !jsonschema.SubschemaAt(t.ParamsSchemaSource(), paramPath).IsForbidden &&
		slices.Contains(paramNames, firstPathStep(paramPath))) {
		return
	}
	knownNames := append(paramNames, ideafile.TypeInput, ideafile.TypeState)
	c.addError(path, "it reads %s, which is not there%s", jsonval.ClipForError(r.String()),
		diag.DidYouMeanOrListNames(firstPathStep(paramPath), knownNames))
}

// checkInstanceDataRead checks that the input or the State of some instance can have what a template reads.
func (c *checker) checkInstanceDataRead(r refexpr.Reference, path string) {
	var knownNames []string
	for _, token := range c.instanceTokens {
		payload, schema := c.viewOf(token).PayloadByKind[r.Kind], c.viewOf(token).SchemaByKind[r.Kind]
		_, exists := jsonval.ValueAt(payload, r.Path)
		subschema := jsonschema.SubschemaAt(schema, r.Path)
		mayHoldMore := r.Kind == ideafile.TypeState || schema != nil || c.idea.IsTemplate
		if exists || !subschema.IsForbidden && (subschema.IsDescribed || mayHoldMore) {
			return
		}
		knownNames = slices.Concat(knownNames, jsonval.SortedKeys(jsonval.AsObject(payload)),
			jsonval.SortedKeys(jsonschema.Properties(schema)))
	}
	slices.Sort(knownNames)
	c.addError(path, "it reads %s, which no instance has%s", jsonval.ClipForError(r.String()),
		diag.DidYouMean(firstPathStep(r.Path), slices.Compact(knownNames)))
}

func firstPathStep(p jsonval.Path) string {
	if len(p) == 0 {
		return ""
	}
	return p[0]
}
