// Package setup holds the verbs that set up and run the program: init, dev, worker, mcp, codec, keys, tools and schema.
package setup
