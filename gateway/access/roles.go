package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"

	"processidea/model/approval/policy"
	"processidea/model/jsonval"
)

// Roles say who may do what. They come from a file, which is read again when it has changed:
//
//	{"roles": [{"may": ["look", "decide"], "groups": ["finance"], "people": ["ann@example.com"]}]}
//
// A role applies to the people that it names ("*": anybody with a token), and to members of its groups. Roles add up.
// It is safe for concurrent use.
type Roles struct {
	file string

	mu          sync.Mutex
	log         *slog.Logger // nil: none
	fileVersion string
	roles       []role
	readErr     error
}

type role struct {
	Rights []Right  `json:"may"`
	People []string `json:"people"`
	Groups []string `json:"groups"`
}

// wildcard, in a role's people, means everybody with a token.
const wildcard = "*"

// OpenRoles reads a file of roles. The error names the faults in it.
func OpenRoles(file string) (*Roles, error) {
	r := &Roles{file: file}
	_, err := r.currentRoles()
	return r, err
}

// RightsOf returns the rights of a person. If the file cannot be read or is broken, nobody has rights: the change may
// have been meant to take rights away.
func (r *Roles) RightsOf(name string, groups []string) ([]Right, error) {
	roles, err := r.currentRoles()
	var rights []Right
	for _, role := range roles {
		if role.appliesTo(name, groups) {
			rights = append(rights, role.Rights...)
		}
	}
	return rights, err
}

func (r role) appliesTo(name string, groups []string) bool {
	containsName := func(list []string, one string) bool {
		return slices.ContainsFunc(list, func(n string) bool { return policy.SameName(n, one) })
	}
	return slices.Contains(r.People, wildcard) || containsName(r.People, name) ||
		slices.ContainsFunc(groups, func(g string) bool { return containsName(r.Groups, g) })
}

func (r *Roles) currentRoles() ([]role, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fileVersion := "none" // the file does not exist
	if info, err := os.Stat(r.file); err == nil {
		fileVersion = fmt.Sprint(info.ModTime().UnixNano(), info.Size())
	}
	if fileVersion == r.fileVersion && r.readErr == nil {
		return r.roles, nil
	}
	previousFileVersion, wasBroken := r.fileVersion, r.readErr != nil
	r.fileVersion, r.roles = fileVersion, nil
	data, err := os.ReadFile(r.file)
	if err == nil {
		r.roles, err = readRoles(data)
	}
	if r.readErr = nil; err != nil {
		r.readErr = fmt.Errorf("access: read roles in %s: %w", r.file, err)
	}
	switch {
	case r.log == nil:
	case err != nil && (fileVersion != previousFileVersion || !wasBroken):
		r.log.Warn(rolesBrokenMessage, "error", r.readErr)
	case err == nil && wasBroken:
		r.log.Info("the file of roles is whole again", "file", r.file)
	}
	return r.roles, r.readErr
}

const rolesBrokenMessage = "this gateway's file of roles is broken: nobody may do anything here until it is mended"

func readRoles(data []byte) ([]role, error) {
	if _, err := jsonval.DecodeObject(data); err != nil {
		return nil, err
	}
	var file struct {
		Roles []role `json:"roles"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	if file.Roles == nil {
		return nil, errors.New(`want {"roles": [{"may", "people", "groups"}, …]}`)
	}
	for n, one := range file.Roles {
		if err := one.check(); err != nil {
			return nil, fmt.Errorf("roles[%d]: %w", n, err)
		}
	}
	return file.Roles, nil
}

func (r role) check() error {
	if len(r.Rights) == 0 {
		return errors.New(`"may" must list at least one right: look, start, decide or steer`)
	}
	for _, right := range r.Rights {
		if !slices.Contains(AllRights, right) {
			return fmt.Errorf("unknown right %q; there are look, start, decide and steer", right)
		}
	}
	if len(r.People)+len(r.Groups) == 0 {
		return errors.New("a role must name people or groups")
	}
	for _, name := range r.People {
		if err := policy.CheckPersonName(name); err != nil {
			return fmt.Errorf("people: %w", err)
		}
	}
	for _, name := range r.Groups {
		if err := policy.CheckGroupName(name); err != nil {
			return fmt.Errorf("groups: %w", err)
		}
	}
	return nil
}
