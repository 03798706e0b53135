package holdups

import (
	"errors"
	"io/fs"
	"syscall"

	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/store/blobs"
)

// MayNotWrite reports whether an error means that the worker has no permission to write.
func MayNotWrite(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// WaitedFor reports whether an error of the store may be mended while a worker waits.
func WaitedFor(err error) bool {
	return errors.Is(err, blobs.ErrAway) || MayNotWrite(err) || isDiskFull(err)
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// ofStore describes in plain words why the store cannot be written, and the remedy. The error itself goes only to the
// log, since it names paths of the machine. It does not cover values that no store would accept.
func ofStore(err error) turn.HeldUp {
	const alone = "; then it goes on by itself"
	switch {
	case isDiskFull(err):
		return turn.HeldUp{Cause: turn.CodeStoreFull, Message: "there is no room left in the store",
			Mend: "make room where the store lies" + alone}
	case MayNotWrite(err):
		return turn.HeldUp{Cause: turn.CodeStoreForbidden,
			Message: "the worker has no permission to read and write the store",
			Mend:    "let the worker's user read and write where the store lies" + alone}
	case errors.Is(err, blobs.ErrAway):
		return turn.HeldUp{Cause: ideafile.CodeStoreAway, Message: "the store is not at its place",
			Mend: "bring it back, such as by mounting its disk" + alone}
	case !blobs.IsTransient(err):
		return turn.HeldUp{}
	}
	return turn.HeldUp{Cause: ideafile.CodeStoreAway, Message: "the store cannot be written or read",
		Mend: "the worker's log says why (/readyz too)" + alone}
}
