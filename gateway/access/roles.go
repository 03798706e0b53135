package access

import (
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
	rights         []Right
	people, groups []string
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
	list, err := r.currentRoles()
	var rights []Right
	for _, role := range list {
		if role.appliesTo(name, groups) {
			rights = append(rights, role.rights...)
		}
	}
	return rights, err
}

func (r role) appliesTo(name string, groups []string) bool {
	hasName := func(list []string, one string) bool {
		return slices.ContainsFunc(list, func(n string) bool { return policy.SameName(n, one) })
	}
	return slices.Contains(r.people, wildcard) || hasName(r.people, name) ||
		slices.ContainsFunc(groups, func(g string) bool { return hasName(r.groups, g) })
}

func (r *Roles) currentRoles() ([]role, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	version := "none" // the file does not exist
	if info, err := os.Stat(r.file); err == nil {
		version = fmt.Sprint(info.ModTime().UnixNano(), info.Size())
	}
	if version == r.fileVersion && r.readErr == nil {
		return r.roles, nil
	}
	lastVersion, wasBroken := r.fileVersion, r.readErr != nil
	r.fileVersion, r.roles = version, nil
	data, err := os.ReadFile(r.file)
	if err == nil {
		r.roles, err = readRoles(data)
	}
	if r.readErr = nil; err != nil {
		r.readErr = fmt.Errorf("access: read roles in %s: %w", r.file, err)
	}
	switch {
	case r.log == nil:
	case err != nil && (version != lastVersion || !wasBroken):
		r.log.Warn(rolesBrokenMessage, "error", r.readErr)
	case err == nil && wasBroken:
		r.log.Info("the file of roles is whole again", "file", r.file)
	}
	return r.roles, r.readErr
}

const rolesBrokenMessage = "this gateway's file of roles is broken: nobody may do anything here until it is mended"

func readRoles(data []byte) ([]role, error) {
	file, err := jsonval.DecodeObject(data)
	if err != nil {
		return nil, err
	}
	entries, ok := file["roles"].([]any)
	if !ok || len(file) != 1 {
		return nil, fmt.Errorf(`want {"roles": [{"may", "people", "groups"}, …]}`)
	}
	var list []role
	for n, entry := range entries {
		one, err := readRole(entry)
		if err != nil {
			return nil, fmt.Errorf("roles[%d]: %w", n, err)
		}
		list = append(list, one)
	}
	return list, nil
}

func readRole(v any) (out role, err error) {
	m, ok := v.(jsonval.Object)
	if !ok {
		return out, fmt.Errorf("a role is an object, not %s", jsonval.TypeOf(v))
	}
	for key := range m {
		if !slices.Contains([]string{"may", "people", "groups"}, key) {
			return out, fmt.Errorf("a role has may, people and groups, not %q", key)
		}
	}
	rightNames, ok := jsonval.AsStringList(m["may"])
	if !ok || len(rightNames) == 0 {
		return out, fmt.Errorf(`"may" must list at least one right: look, start, decide or steer`)
	}
	for _, right := range rightNames {
		if !slices.Contains(Rights, Right(right)) {
			return out, fmt.Errorf("unknown right %q; there are look, start, decide and steer", right)
		}
		out.rights = append(out.rights, Right(right))
	}
	for key, check := range map[string]func(string) error{"people": policy.CheckName, "groups": policy.CheckGroup} {
		names, ok := jsonval.AsStringList(m[key])
		if !ok && m[key] != nil {
			return out, fmt.Errorf("%q must be a list of names", key)
		}
		for _, name := range names {
			if err := check(name); err != nil {
				return out, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	out.people, _ = jsonval.AsStringList(m["people"])
	if out.groups, _ = jsonval.AsStringList(m["groups"]); len(out.people)+len(out.groups) == 0 {
		err = fmt.Errorf("a role must name people or groups")
	}
	return out, err
}
