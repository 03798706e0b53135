// Package setup holds the verbs for those who run and equip the program: dev, codec, keys and tools import.
package setup
