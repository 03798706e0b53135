package devtest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// FreePort finds a free loopback port that probably stays free until the test listens on it. It is below 32768, where
// the system's range of ports for outgoing connections begins, and far from the command's usual ports.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 10_000 + rand.IntN(22_768)
		if l, err := new(net.ListenConfig).Listen(t.Context(), "tcp",
			net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("devtest: there is no free port")
	return 0
}
