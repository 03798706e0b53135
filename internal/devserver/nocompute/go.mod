// It stands in for the module of this name, by the replace in ../../go.mod: doc.go says why.
module go.temporal.io/auto-scaled-workers

// It requires nothing: it is never built alone, and what it imports has the versions of the module that builds it.
go 1.26.8
