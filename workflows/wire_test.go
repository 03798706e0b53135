package workflows_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"processidea/model/ideafile/limit"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/instance"
	"processidea/workflows/internal/process"
)

// What continue-as-new carries and what workflows exchange is read by later versions of this program: its keys never
// change. A key that is new is added to the file.
func TestTheKeysOfWhatIsCarriedAndSentNeverChange(t *testing.T) {
	t.Parallel()
	var keys []string
	for name, typ := range map[string]reflect.Type{
		"process":  reflect.TypeFor[process.ContinueAsNewInput](),
		"instance": reflect.TypeFor[instance.ContinueAsNewInput](),
		"start":    reflect.TypeFor[protocol.ProcessStart](), "setup": reflect.TypeFor[protocol.InstanceSetup](),
		"limit": reflect.TypeFor[limit.Queue](), "turns": reflect.TypeFor[limit.TurnRequest](),
		"calls": reflect.TypeFor[protocol.CallsSignal](), "status": reflect.TypeFor[protocol.ProcessView](),
		"report": reflect.TypeFor[turn.ReportSignal](),
	} {
		keys = append(keys, jsonKeys(name, typ, nil)...)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	text, err := os.ReadFile("testdata/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields(string(text))
	for _, key := range known {
		if !slices.Contains(keys, key) {
			t.Errorf("the key %s is gone", key)
		}
	}
	for _, key := range keys {
		if !slices.Contains(known, key) {
			t.Errorf("the key %s is new: add it to testdata/keys.txt", key)
		}
	}
	if !slices.IsSorted(known) {
		t.Error("testdata/keys.txt is not sorted")
	}
}

// jsonKeys lists the keys of a type's JSON, each with those it stands under.
func jsonKeys(at string, typ reflect.Type, above []reflect.Type) []string {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return jsonKeys(at, typ.Elem(), above)
	}
	if typ.Kind() != reflect.Struct || typ.Implements(reflect.TypeFor[json.Marshaler]()) ||
		slices.Contains(above, typ) {
		return nil
	}
	var keys []string
	for _, f := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		keys = append(keys, at+"."+name)
		keys = append(keys, jsonKeys(at+"."+name, f.Type, append(above, typ))...)
	}
	return keys
}
