package holdups

import (
	"errors"
	"io/fs"
	"syscall"

	"processidea/model/ideafile"
	"processidea/model/turn"
	"processidea/store/blobs"
)

// MayNotWrite reports whether an error says that the worker has no right to write.
func MayNotWrite(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// WaitedFor reports whether an error says what a store lacks that somebody may mend while a worker waits.
func WaitedFor(err error) bool {
	return errors.Is(err, blobs.ErrAway) || MayNotWrite(err) || full(err)
}

func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// ofStore says in plain words why the store takes nothing, and what mends it. The error itself is for the log alone: it
// names places of the machine. It says nothing of what no store would take.
func ofStore(err error) turn.HeldUp {
	const alone = "; then it goes on by itself"
	switch {
	case full(err):
		return turn.HeldUp{Cause: turn.CodeStoreFull, Message: "there is no room left in the store",
			Mend: "make room where the store lies" + alone}
	case MayNotWrite(err):
		return turn.HeldUp{Cause: turn.CodeStoreForbidden,
			Message: "the worker has no right to read and write in the store",
			Mend:    "let the worker's user read and write where the store lies" + alone}
	case errors.Is(err, blobs.ErrAway):
		return turn.HeldUp{Cause: ideafile.CodeStoreAway, Message: "the store is not at its place",
			Mend: "bring it back, such as by mounting its disk" + alone}
	case !blobs.IsTransient(err):
		return turn.HeldUp{}
	}
	return turn.HeldUp{Cause: ideafile.CodeStoreAway, Message: "the store cannot be written, or not be read",
		Mend: "the worker's log says why (/readyz too)" + alone}
}
