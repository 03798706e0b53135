package devtest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// FreePort finds a loopback port that is free and likely stays free until the test listens there: it is below 32768,
// above which the system takes the ports of connections, and far from those that the command usually takes.
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
