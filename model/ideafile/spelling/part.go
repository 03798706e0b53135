package spelling

import (
	"regexp"
	"strconv"
	"strings"
)

// PartMark is the word before the number of a part in its id.
const PartMark = "~part"

// PartID returns the id of a part of a split process.
func PartID(processID string, partNumber int) string {
	return processID + "/" + PartMark + "/" + strconv.Itoa(partNumber)
}

// SplitPartID splits the id of a part into the id of the whole process and the part's number. For any other id, such as
// that of a part's delegate, ok is false and wholeProcessID is the id.
func SplitPartID(id string) (wholeProcessID string, partNumber int, ok bool) {
	if markIndex := strings.LastIndex(id, "/"+PartMark+"/"); markIndex >= 0 {
		partNumber, err := strconv.Atoi(id[markIndex+len("/"+PartMark+"/"):])
		if err == nil && PartID(id[:markIndex], partNumber) == id {
			return id[:markIndex], partNumber, true
		}
	}
	return id, 0, false
}

// IsPartID reports whether an id names a part of a process. The process itself answers for its parts.
func IsPartID(id string) bool {
	_, _, ok := SplitPartID(id)
	return ok
}

// WholeProcessID returns the id of the process that a part belongs to; any other id is returned as it is.
func WholeProcessID(id string) string {
	wholeProcessID, _, _ := SplitPartID(id)
	return wholeProcessID
}

var partPattern = regexp.MustCompile(`/` + PartMark + `/[0-9]+`)

// ProcessIDWithoutParts returns the id of a process without any parts, those of the processes above it included. The
// name of a Call may leave the parts out, since ids of Calls are unique in the whole.
func ProcessIDWithoutParts(id string) string { return partPattern.ReplaceAllString(id, "") }
