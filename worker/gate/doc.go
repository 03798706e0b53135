// Package gate decides whether a new version of the workers can be deployed: every Idea file of a folder must pass
// check and a simulation, and every history of processes and instances must replay with the code of this version.
//
// It is a workflow that a deployment's controller runs on the new version before any other work. It changes nothing
// apart from the simulated processes that it starts.
package gate
