package devserver

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"go.temporal.io/server/common/testing/freeport"
)

const host = "127.0.0.1"

// ports are the loopback ports of one server. Its parts speak to each other over gRPC too.
type ports struct {
	frontend, history, matching, worker, ui int
}

func loopback(port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// choosePorts takes the ports that were given, if they are free, and free ones for the rest.
func choosePorts(frontend, ui int) (ports, error) {
	p := ports{
		frontend: frontend,
		ui:       ui,
		history:  freeport.MustGetFreePort(),
		matching: freeport.MustGetFreePort(),
		worker:   freeport.MustGetFreePort(),
	}
	for _, port := range []*int{&p.frontend, &p.ui} {
		switch {
		case *port < 0: // no UI
		case *port == 0:
			// A port from freeport is not given out again for a minute, so that two servers that
			// start at the same moment do not meet.
			*port = freeport.MustGetFreePort()
		default:
			if err := checkFree(*port); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// checkFree is for ports that a person chose: the parts that listen on them would not return an
// error, and the UI would end the program.
func checkFree(port int) error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", loopback(port))
	if err != nil {
		return fmt.Errorf("devserver: check port %d: %w", port, err)
	}
	_ = l.Close()
	return nil
}
