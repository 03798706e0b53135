package statelog

import (
	"fmt"

	"processidea/model/jsonval"
)

// Update is a change at one path: the value there before, and the result that changes it. For the whole State, OldValue
// has only the keys that ResultValue has too.
type Update struct {
	Path        jsonval.Path `json:"path"`
	OldValue    any          `json:"old"`
	ResultValue any          `json:"value"`
}

// NeedsBlobContent reports whether the value at a path after an update depends on the content of a value in the blob
// store.
func NeedsBlobContent(method string, old, value any) bool {
	_, isOldBlob := jsonval.AsBlobHandle(old)
	_, isNewBlob := jsonval.AsBlobHandle(value)
	if method != "" && (isOldBlob || (isNewBlob && old != nil && method != MethodPush)) {
		return true
	}
	o := jsonval.AsObject(old)
	v := jsonval.AsObject(value)
	for k, value := range jsonval.Sorted(v) {
		if oldMember, ok := o[k]; ok && method == MethodMerge && NeedsBlobContent(method, oldMember, value) {
			return true
		}
	}
	return false
}

// Combine returns the value at the path after the update. OldValue and ResultValue must not have BlobHandles. contract
// is what the result must fit; nil: any result will do.
func (u Update) Combine(method string, contract *ResultContract) (any, error) {
	if contract != nil {
		if err := contract.CheckAt(u.Path, u.OldValue, u.ResultValue); err != nil {
			return nil, err
		}
	}
	if len(u.Path) == 0 && jsonval.TypeOf(u.ResultValue) != "object" {
		return nil, fmt.Errorf("the whole State takes an object, not %s", jsonval.TypeOf(u.ResultValue))
	}
	return combineByMethod(method, u.OldValue, u.ResultValue), nil
}

// HasCombinedLaterWrite reports whether a write would come too late: a write that is later in the Plan, at an
// overlapping path, was already combined with a stored value that lacks this one.
func (s *State) HasCombinedLaterWrite(w Write) bool {
	for _, o := range s.writesThatMayOverlap(w.Path) {
		if o.CombinedValue != nil && o.Path.Overlaps(w.Path) && w.precedesCall(o.Request, o.Index) {
			return true
		}
	}
	return false
}
