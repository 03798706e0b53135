package devserver

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"go.temporal.io/server/common/testing/freeport"
)

const loopbackIP = "127.0.0.1"

// ports are the loopback ports of one server. Its services talk gRPC to each other on them.
type ports struct {
	frontend, history, matching, worker, ui int
}

func loopbackAddress(port int) string { return net.JoinHostPort(loopbackIP, strconv.Itoa(port)) }

// choosePorts checks that the given ports are free, and picks free ports for the rest.
func choosePorts(o Options) (ports, error) {
	p := ports{
		frontend: o.Port,
		ui:       o.UIPort,
		history:  freeport.MustGetFreePort(),
		matching: freeport.MustGetFreePort(),
		worker:   freeport.MustGetFreePort(),
	}
	if p.ui == 0 {
		p.ui = firstFreePort(o.DefaultUIPorts)
	}
	for _, port := range []*int{&p.frontend, &p.ui} {
		switch {
		case *port < 0: // no UI
		case *port == 0:
			// freeport does not return a port again for a minute, so that two servers that start at the same moment get
			// different ports.
			*port = freeport.MustGetFreePort()
		default:
			if err := checkPortFree(*port); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// firstFreePort returns the first free port of a list, or 0 if none is free.
func firstFreePort(ports []int) int {
	for _, port := range ports {
		if checkPortFree(port) == nil {
			return port
		}
	}
	return 0
}

// checkPortFree checks a port before a service listens on it. The server's services would return no error for a port in
// use, and the UI would end the program.
func checkPortFree(port int) error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", loopbackAddress(port))
	if err != nil {
		return fmt.Errorf("devserver: check port %d: %w", port, err)
	}
	_ = l.Close()
	return nil
}
