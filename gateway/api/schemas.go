package api

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"processidea/client"
	"processidea/client/schedules"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
	"processidea/store/chain"
)

// newRegistry makes the registry of schemas. Its aliases are for types of the engine whose JSON differs from their
// fields.
func newRegistry() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", schemaName)
	type null = *string
	aliasType[turn.Failures, []turn.CallFailure](r)
	aliasType[refexpr.OutputPath, null](r)
	aliasType[jsonval.Path, string](r)
	aliasType[ideafile.WrittenCall, json.RawMessage](r)
	aliasType[policy.Identity, json.RawMessage](r) // a name, or an object
	aliasType[jsonval.OrderedObject, Object](r)
	aliasType[client.Object, Object](r)
	aliasType[client.Objects, []Object](r)
	aliasType[client.IdeaFiles, map[string]Object](r)
	return r
}

// aliasType describes a type as another one.
func aliasType[From, To any](r huma.Registry) {
	r.RegisterTypeAlias(reflect.TypeFor[From](), reflect.TypeFor[To]())
}

// schemaNameByType distinguishes types of the same name in several packages.
var schemaNameByType = map[reflect.Type]string{
	reflect.TypeFor[approval.Decision]():        "DecisionTaken",
	reflect.TypeFor[chain.Link]():               "IdeaLink",
	reflect.TypeFor[schedules.Schedule]():       "ProcessSchedule",
	reflect.TypeFor[schedules.StartedProcess](): "ScheduledStart",
}

func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name := schemaNameByType[t]; name != "" {
		return name
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// markNullableProperties makes a property nullable if it is a pointer to an object and never omitted. The framework
// does not.
func markNullableProperties(api *huma.OpenAPI) {
	r := api.Components.Schemas
	for name, s := range r.Map() {
		t := r.TypeFromRef("#/components/schemas/" + name)
		for t != nil && t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, f := range reflect.VisibleFields(t) {
			key, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := s.Properties[key]
			if p == nil || p.Ref == "" || f.Type.Kind() != reflect.Pointer || strings.Contains(rest, "omit") {
				continue
			}
			s.Properties[key] = &huma.Schema{AnyOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}}
		}
	}
}
