package approval_test

import (
	"testing"

	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestChangesLeadFromOneObjectToAnother(t *testing.T) {
	t.Parallel()
	from := modeltest.MustDecodeJSON(`{"a": 1, "b": {"c": 1.0, "d": [1], "gone": 1}, "e": 1}`).(jsonval.Object)
	to := modeltest.MustDecodeJSON(`{"a": 1, "b": {"c": 1.00, "d": [1, 2]}, "f": "x"}`).(jsonval.Object)
	if got := jsonval.EncodeToString(approval.DiffObjects(from, to)); got !=
		`{"b":{"c":1.00,"d":[1,2],"gone":null},"e":null,"f":"x"}` {
		t.Error(got)
	}
	if got := approval.DiffObjects(from, from); len(got) > 0 {
		t.Error(got)
	}
}
