package diag

// faultValue is what a failure leaves at the last branch.
func FaultValue(f *Fault) any { return map[string]any{"code": f.Code, "message": f.Message} }
