package rehearsal

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parse(t testing.TB, file string) []Reply {
	t.Helper()
	replies, err := Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return replies
}

func parseError(t testing.TB, file string) string {
	t.Helper()
	replies, err := Parse([]byte(file))
	if err == nil {
		t.Fatalf("Parse(%s) gave %+v and no error", file, replies)
	}
	return err.Error()
}

// OnEnd calls f when a Request has ended, in whatever way.
func OnEnd(f func(request int, end EndReason)) Option {
	return func(o *options) { o.onReplyEnd = f }
}
