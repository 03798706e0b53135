// Command server runs the bookkeeping of the invoices example on loopback until it is interrupted.
package main

import (
	"flag"

	"processidea/examples/invoices/books"
	"processidea/examples/serve"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8767", "`host:port` to listen on")
	flag.Parse()
	serve.UntilInterrupted(*addr, &books.Books{})
}
