package postgres

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// usualDelay is what the network adds to each answer of the database, as between two zones of a cloud.
const usualDelay = 20 * time.Millisecond

// link is the network before the database.
type link struct {
	cut   sync.RWMutex
	delay atomic.Int64 // of each answer, as a time.Duration
}

// startLink listens, and gives its port: whoever connects there reaches the database.
func startLink(t testing.TB, database string) (l *link, port string) {
	t.Helper()
	l = &link{}
	l.delay.Store(int64(usualDelay))
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", "127.0.0.1:"+database) //nolint:noctx // as above
			if err != nil {
				_ = from.Close()
				continue
			}
			go l.forward(from, to, new(atomic.Int64))
			go l.forward(to, from, &l.delay)
		}
	}()
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return l, port
}

// forward hands on what comes, each part of it as much later, and nothing while the link is cut.
func (l *link) forward(from, to net.Conn, later *atomic.Int64) {
	type part struct {
		bytes []byte
		due   time.Time
	}
	parts := make(chan part, 1000)
	go func() {
		defer to.Close()
		for p := range parts {
			<-time.After(time.Until(p.due))
			l.cut.RLock()
			_, err := to.Write(p.bytes)
			l.cut.RUnlock()
			if err != nil {
				_ = from.Close()
			}
		}
	}()
	defer close(parts)
	for {
		bytes := make([]byte, 64<<10)
		n, err := from.Read(bytes)
		if n > 0 {
			parts <- part{bytes[:n], time.Now().Add(time.Duration(later.Load()))}
		}
		if err != nil {
			if err != io.EOF {
				_ = from.Close()
			}
			return
		}
	}
}

// cutFor loses nothing and hands nothing on for a while: nobody is told, as where a cable is pulled.
func (l *link) cutFor(d time.Duration) {
	l.cut.Lock()
	defer l.cut.Unlock()
	<-time.After(d)
}

// startFarDatabase runs a PostgreSQL that Temporal reaches through a network, and gives what Temporal needs for it. A
// shard writes one thing at a time, and a transaction is several round trips: with few of both the delay is what
// everything waits for.
func startFarDatabase(t testing.TB, c compose, temporal string) (network *link, here map[string]string) {
	t.Helper()
	here = map[string]string{"POSTGRES_SEEDS": "127.0.0.1", "NUM_HISTORY_SHARDS": "512", "SQL_MAX_CONNS": "100",
		"SQL_MAX_IDLE_CONNS": "100"}
	here["DB_PORT"] = startDatabase(t, c.Services["temporal"].Environment["POSTGRES_USER"])
	setUp(t, c, temporal, here)
	network, here["DB_PORT"] = startLink(t, here["DB_PORT"])
	return network, here
}
