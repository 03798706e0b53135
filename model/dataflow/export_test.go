package dataflow

import "processidea/model/jsonval"

// What only the tests of this package see.

func (r *Record) Expects() bool              { return r.expects() }
func (r *Record) Update() bool               { return r.update() }
func (r *Record) Writes(p jsonval.Path) bool { return r.writes(p) }
func (r *Instance) ExpireCall(rec *Record)   { r.expireCall(rec) }
