package diag

import "fmt"

// Fault is what went wrong with a Call, a Request or a process.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error gives code and message.
func (f *Fault) Error() string { return f.Code + ": " + f.Message }

func Faultf(code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}
