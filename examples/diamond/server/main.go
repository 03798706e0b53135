// Command server runs the tool server of the diamond example on loopback until it is interrupted.
package main

import (
	"flag"
	"time"

	"processidea/examples/diamond/shop"
	"processidea/examples/serve"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8765", "`host:port` to listen on")
	delay := flag.Duration("delay", 200*time.Millisecond, "how long every answer takes at least")
	flag.Parse()
	serve.UntilInterrupted(*addr, shop.WithDelay(shop.Handler(), *delay))
}
