package activities

import (
	"strings"
	"testing"
	"unicode/utf8"

	"processidea/model/jsonval"
)

func TestOfALongCallThatIsNoJSONTheBeginningIsKept(t *testing.T) {
	t.Parallel()
	short := strings.Repeat("[", jsonval.LargeValueBytes)
	if malformedCallText([]byte(short)) != short {
		t.Error("what is not long was changed")
	}
	long := malformedCallText([]byte("[" + strings.Repeat("ä", jsonval.LargeValueBytes)))
	if len(long) > jsonval.LargeValueBytes+len("…") || !strings.HasSuffix(long, "ä…") || !utf8.ValidString(long) {
		t.Errorf("%d bytes are kept, which end with %q", len(long), long[len(long)-8:])
	}
}
