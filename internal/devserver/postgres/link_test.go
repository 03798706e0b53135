package postgres

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// delay is what the network adds to each answer of the database, as between two zones of a cloud.
const delay = 20 * time.Millisecond

// link is the network before the database.
type link struct{ cut sync.RWMutex }

// startLink listens, and gives its port: whoever connects there reaches the database.
func startLink(t *testing.T, database string) (l *link, port string) {
	t.Helper()
	l = &link{}
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
			go l.forward(from, to, 0)
			go l.forward(to, from, delay)
		}
	}()
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return l, port
}

// forward hands on what comes, each part of it as much later, and nothing while the link is cut.
func (l *link) forward(from, to net.Conn, later time.Duration) {
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
			parts <- part{bytes[:n], time.Now().Add(later)}
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
