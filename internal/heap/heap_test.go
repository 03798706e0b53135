package heap

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestTheLimitGivesWayWhereWhatIsInUseComesNearIt(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for _, c := range []struct{ limit, live, want int64 }{
		{256 * mb, 0, 256 * mb},
		{256 * mb, 180 * mb, 256 * mb},
		{256 * mb, 220 * mb, 308 * mb},
		{256 * mb, 1000 * mb, 1400 * mb},
		{0, 1000 * mb, unlimitedBytes},
	} {
		if got := softLimitFor(c.limit, c.live); got != c.want {
			t.Errorf("limit %d, %d in use: %d, want %d", c.limit/mb, c.live/mb, got/mb, c.want/mb)
		}
	}
}

// Not parallel: it sets a variable and the memory limit of the process.
func TestTheLimitIsThatOfGo(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	t.Cleanup(func() { SetSoftLimit(0) })
	SetSoftLimit(3 << 30)
	if got := debug.SetMemoryLimit(-1); got != 3<<30 {
		t.Errorf("Go's limit is %d", got)
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	SetSoftLimit(2 << 30)
	if got := debug.SetMemoryLimit(-1); got != 3<<30 {
		t.Errorf("Go's limit is %d although GOMEMLIMIT is set", got)
	}
}

func TestTheMemoryOfAContainerIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"536870912\n": 512 << 20, "max\n": 0, "9223372036854771712": 0, "": 0} {
		if got := parseContainerLimit(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestANumberOfBytesComesFromTheEnvironment(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"": 0, "1048576": 1 << 20, " 5 ": 5, "1125899906842624": MaxLimitBytes,
		"1125899906842625": -1, "9223372036854775808": -1, "1MB": -1, "1.5": -1, "0": -1, "-5": -1} {
		got, err := BytesFromEnv(func(string) string { return text }, LimitEnvVariable)
		if want < 0 {
			if err == nil ||
				!strings.Contains(err.Error(), LimitEnvVariable+": want a whole number of bytes from 1 to 1125") {
				t.Errorf("%q: %v", text, err)
			}
		} else if err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
