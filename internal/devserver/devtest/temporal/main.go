// Command temporal is the Temporal server of package devtest. Its one argument is a devserver.Options as JSON. It
// writes its address to standard output, and serves until its standard input ends.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"processidea/internal/devserver"
)

func main() {
	if err := serve(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("temporal: read options: want one argument, a devserver.Options as JSON")
	}
	var o devserver.Options
	if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
		return fmt.Errorf("temporal: read options: %w", err)
	}
	s, err := devserver.Start(context.Background(), o)
	if err != nil {
		return err
	}
	defer s.Stop()
	if _, err := fmt.Fprintln(out, s.Address()); err != nil {
		return fmt.Errorf("temporal: tell the address: %w", err)
	}
	_, err = io.Copy(io.Discard, in)
	return err
}
