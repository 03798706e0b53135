// Package longrun is the switch for tests that only repeat what shorter ones prove: more often, larger, in a second
// browser, at other lengths, on another database. The ordinary run leaves them out.
package longrun

import (
	"os"
	"testing"
)

// Enabled says whether the long run is on: PROCESSIDEA_LONG is set.
func Enabled() bool { return os.Getenv("PROCESSIDEA_LONG") != "" }

// Only skips a test that is for the long run alone.
func Only(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skip("in the long run only: set PROCESSIDEA_LONG=1")
	}
}
