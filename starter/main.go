// Command starter starts processes, looks at them, and runs the embedded Temporal server where none is configured.
package main

import "os"

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }
