package service

import (
	"io"
	"log/slog"
)

// logger returns the logger that the settings describe.
func (s settings) logger(out io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: s.logLevel}
	if s.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, o))
	}
	return slog.New(slog.NewTextHandler(out, o))
}
