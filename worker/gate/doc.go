// Package gate says whether a new version of the workers fits what is there: every Idea file of a folder must pass
// check and a simulation, and every history of processes and instances must replay with the code of this version.
//
// It is a workflow that a deployment's controller runs on the new version before anything else is given to it. It
// changes nothing but for the simulated processes that it starts.
package gate
