package devserver

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"go.temporal.io/server/common/testing/freeport"
)

const loopbackIP = "127.0.0.1"

// ports are the loopback ports of one server, whose services speak gRPC to each other.
type ports struct {
	frontend, history, matching, worker, ui int
}

func loopbackAddress(port int) string { return net.JoinHostPort(loopbackIP, strconv.Itoa(port)) }

// choosePorts takes the ports that were given, if they are free, and free ones for the rest.
func choosePorts(o Options) (ports, error) {
	p := ports{
		frontend: o.Port,
		ui:       o.UIPort,
		history:  freeport.MustGetFreePort(),
		matching: freeport.MustGetFreePort(),
		worker:   freeport.MustGetFreePort(),
	}
	if p.ui == 0 {
		p.ui = firstFree(o.DefaultUIPorts)
	}
	for _, port := range []*int{&p.frontend, &p.ui} {
		switch {
		case *port < 0: // no UI
		case *port == 0:
			// freeport does not give a port out again for a minute, so that two servers that start at the same moment
			// do not get the same one.
			*port = freeport.MustGetFreePort()
		default:
			if err := checkFree(*port); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// firstFree gives the first of some ports that is free; 0 if none is.
func firstFree(ports []int) int {
	for _, port := range ports {
		if checkFree(port) == nil {
			return port
		}
	}
	return 0
}

// checkFree checks a port that a person chose. The services that listen there would return no error, and the UI would
// end the program.
func checkFree(port int) error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", loopbackAddress(port))
	if err != nil {
		return fmt.Errorf("devserver: check port %d: %w", port, err)
	}
	_ = l.Close()
	return nil
}
