package jsonval_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestTheSizeOfAValueIsAboutThatOfItsJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		v := modeltest.AnyJSON(4).Draw(rt, "v")
		got, want := jsonval.SizeUpToLimit(v, 1<<30), len(jsonval.Encode(v))
		if got > 2*want+16 || want > 6*got+16 { // a control character takes six bytes
			rt.Fatalf("%d for %d bytes: %s", got, want, jsonval.Encode(v))
		}
	})
}

func TestTheSizeIsCountedNoFurtherThanTheLimit(t *testing.T) {
	t.Parallel()
	var v any = strings.Repeat("x", 100)
	for range 60 {
		v = []any{v, v} // 2^60 times
	}
	if n := jsonval.SizeUpToLimit(v, 1000); n <= 1000 || n > 2000 {
		t.Errorf("got %d", n)
	}
}

func TestAHandleCountsAsItsValueWhereTheWholeIsAskedFor(t *testing.T) {
	t.Parallel()
	v := []any{jsonval.BlobHandle{Digest: "d", Size: 5000, ValueType: "string"}.AsJSONValue(),
		jsonval.BlobHandle{Digest: "d", Size: 5000, ValueType: "object", PathInValue: "a"}.AsJSONValue()}
	if whole, light := jsonval.SizeWithBlobsUpToLimit(v, 1<<20), jsonval.SizeUpToLimit(v, 1<<20); whole < 5000 ||
		whole > 5300 || light > 400 {
		t.Errorf("whole %d, light %d", whole, light)
	}
}
