// Package find finds the processes, and their instances, that contain a text: in their Ideas, and in Temporal.
package find
