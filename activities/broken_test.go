package activities

import (
	"strings"
	"testing"
	"unicode/utf8"

	"processidea/model/ideafile"
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

func TestACallThatCannotBeReadIsKeptAsItWasWrittenBesideItsFault(t *testing.T) {
	t.Parallel()
	const twice = `{"_tool":"shout","_tool":"shout"}`
	a := newWorker(t, serve(t, streaming(`{"calls":[`+twice+`,{"_tool":"shout","text":"hi"}],"output":null}`)).llm())
	reply, err := makeRequest(t, a)
	if err != nil || len(reply.Calls) != 2 || len(reply.CallFaults) != 1 {
		t.Fatalf("%v %+v", err, reply)
	}
	if kept, f := reply.Calls[0].AsWritten(), reply.CallFaults[0]; kept != twice || f.Index != 1 ||
		f.Fault.Code != ideafile.CodeBadForm {
		t.Errorf("%v is kept, with %+v", kept, f)
	}
}
