package service

import (
	"io"
	"log/slog"
)

// logger writes what the settings ask for.
func (s settings) logger(to io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: s.logLevel}
	if s.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(to, o))
	}
	return slog.New(slog.NewTextHandler(to, o))
}
