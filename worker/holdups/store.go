package holdups

import (
	"errors"
	"io/fs"
	"syscall"

	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/store/blobs"
)

// IsWriteForbidden reports whether an error means that the worker has no permission to write.
func IsWriteForbidden(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// IsStoreWorthAwaiting reports whether an error of the store may be mended while a worker waits.
func IsStoreWorthAwaiting(err error) bool {
	return errors.Is(err, blobs.ErrUnavailable) || IsWriteForbidden(err) || isDiskFull(err)
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// holdUpFromStoreError describes in plain words why the store cannot be written, and the remedy. The error itself goes
// only to the log, since it names paths of the machine. It does not cover values that no store would accept.
func holdUpFromStoreError(err error) turn.HoldUp {
	const suffix = "; then it goes on by itself"
	switch {
	case isDiskFull(err):
		return turn.HoldUp{CauseCode: turn.CodeStoreFull, Message: "there is no room left in the store",
			Remedy: "make room where the store lies" + suffix}
	case IsWriteForbidden(err):
		return turn.HoldUp{CauseCode: turn.CodeStoreForbidden,
			Message: "the worker has no permission to read and write the store",
			Remedy:  "let the worker's user read and write where the store lies" + suffix}
	case errors.Is(err, blobs.ErrUnavailable):
		return turn.HoldUp{CauseCode: ideafile.CodeStoreUnavailable, Message: "the store is not at its place",
			Remedy: "bring it back, such as by mounting its disk" + suffix}
	case !blobs.IsTransient(err):
		return turn.HoldUp{}
	}
	return turn.HoldUp{CauseCode: ideafile.CodeStoreUnavailable, Message: "the store cannot be written or read",
		Remedy: "the worker's log says why (/readyz too)" + suffix}
}
