package diag

import (
	"fmt"

	"processidea/model/jsonval"
)

// Fault is an error of a Call, a Request or a process.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error gives code and message.
func (f *Fault) Error() string { return f.Code + ": " + f.Message }

// Faultf makes a Fault with a formatted message.
func Faultf(code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// FaultAsJSON gives a Fault as the JSON value that a failed Call writes to the last branch of its output path.
func FaultAsJSON(f *Fault) any { return jsonval.Object{"code": f.Code, "message": f.Message} }

// FaultFromJSON reads what FaultAsJSON gives.
func FaultFromJSON(v any) (f *Fault, isFault bool) {
	m, _ := v.(jsonval.Object)
	f = &Fault{Code: jsonval.AsText(m["code"]), Message: jsonval.AsText(m["message"])}
	return f, jsonval.Equal(v, FaultAsJSON(f)) && f.Code != ""
}
