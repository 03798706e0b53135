package httptool

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer is a real DNS server: it answers the Nth question for a name's IPv4 address with the Nth list, and the
// last one from then on.
type nameServer struct {
	conn    net.PacketConn
	mu      sync.Mutex
	answers [][]string
	asked   int
}

func serveNames(t *testing.T, answers ...[]string) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn: conn, answers: answers}
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if reply, err := s.reply(buffer[:n]); err == nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return s
}

func (s *nameServer) reply(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	q := m.Questions[0]
	reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true},
		Questions: m.Questions}
	if q.Type == dnsmessage.TypeA {
		for _, ip := range s.next() {
			reply.Answers = append(reply.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(ip).As4()},
			})
		}
	}
	return reply.Pack()
}

func (s *nameServer) next() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.answers[min(s.asked, len(s.answers)-1)]
	s.asked++
	return answer
}

func (s *nameServer) lookups() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

// neighbours are two servers on one port: an honest one at 127.0.0.2, and one at 127.0.0.1 that nobody may reach.
func neighbours(t *testing.T, honest http.HandlerFunc) (port string, secret *record) {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("loopback has one address here: ", err)
	}
	_, port, _ = net.SplitHostPort(at.Addr().String())
	beside, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Skip("the port is taken beside: ", err)
	}
	secret = &record{}
	listen := func(l net.Listener, h http.HandlerFunc) {
		s := httptest.NewUnstartedServer(h)
		_ = s.Listener.Close()
		s.Listener = l
		s.Start()
		t.Cleanup(s.Close)
	}
	listen(at, honest)
	listen(beside, func(w http.ResponseWriter, r *http.Request) {
		secret.add(seen{Method: r.Method, URI: r.RequestURI})
	})
	return port, secret
}

// atPlace is a client that may reach names under .test, and 127.0.0.2, and asks the name server.
func atPlace(t *testing.T, port string, names *nameServer) *Client {
	t.Helper()
	c := New(Options{AllowList: "*.test,127.0.0.2:" + port})
	c.dialer.resolver = names.resolver()
	t.Cleanup(c.Close)
	return c
}

func TestANameThatIsBoundAnewLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	port, secret := neighbours(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // the next request looks the name up anew
		_, _ = w.Write([]byte("honest"))
	})
	names := serveNames(t, []string{"127.0.0.2"}, []string{"127.0.0.1"})
	c := atPlace(t, port, names)
	spec := Spec{URL: "http://shop.test:" + port + "/"}
	if got, err := c.Do(bg, spec, nil, nil, "k"); err != nil || got != "honest" || names.lookups() != 1 {
		t.Fatalf("%v, %v after %d look-ups", got, err, names.lookups())
	}
	_, err := c.Do(bg, spec, nil, nil, "k")
	if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(), "address 127.0.0.1 is not public") ||
		names.lookups() != 2 {
		t.Errorf("%v after %d look-ups", e, names.lookups())
	}
	if len(secret.take()) != 0 {
		t.Error("the other server was reached")
	}
}

func TestOfSeveralAddressesOnlyThoseThatAreAllowedAreDialled(t *testing.T) {
	t.Parallel()
	port, secret := neighbours(t, write("text/plain", "honest"))
	names := serveNames(t, []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0", "127.0.0.2"})
	if got, err := atPlace(t, port, names).Do(bg, Spec{URL: "http://shop.test:" + port}, nil, nil, "k"); err != nil ||
		got != "honest" {
		t.Errorf("%v, %v", got, err)
	}
	if names.lookups() != 1 || len(secret.take()) != 0 {
		t.Errorf("%d look-ups, or another server was reached", names.lookups())
	}
}

func TestARedirectToANameOfAPrivateAddressIsRefused(t *testing.T) {
	t.Parallel()
	var to string
	port, secret := neighbours(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	})
	for _, host := range []string{"inner.test", "shop.test"} { // another name, and the same one bound anew
		to = "http://" + host + ":" + port + "/inner"
		c := atPlace(t, port, serveNames(t, []string{"127.0.0.2"}, []string{"127.0.0.1"}))
		_, err := c.Do(bg, Spec{URL: "http://shop.test:" + port + "/"}, nil, nil, "k")
		if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(), "is not public") ||
			len(secret.take()) != 0 {
			t.Errorf("%s: %v", host, e)
		}
	}
}

func TestANameWithoutAnAddressIsTriedAgain(t *testing.T) {
	t.Parallel()
	c := atPlace(t, "1", serveNames(t, nil))
	if _, err := c.Do(bg, Spec{URL: "http://gone.test/"}, nil, nil, "k"); !asError(t, err).IsRetryable {
		t.Errorf("%v", err)
	}
}
