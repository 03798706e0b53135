// Package templatecheck finds the members that a template reads and that the Go type of its data lacks, for tests.
// Executing a template finds them only in the branches that are taken. It follows range, with, variables, the function
// dict, and each part with each type of data that it is given.
package templatecheck

import (
	"fmt"
	"reflect"
	"text/template/parse"
)

// value is what is known of a value: its type (nil: unknown), whether methods of its pointer can be called, and what
// dict put into it.
type value struct {
	typ         reflect.Type
	addressable bool
	keys        map[string]value
}

type variable struct {
	name string
	value
}

type checker struct {
	tree     func(name string) *parse.Tree
	funcs    map[string]any
	seen     map[string]bool // templates with the values that they were given
	vars     []variable
	problems []string
}

// Problems lists what a template, and those that it uses, read of data without that its type has it. A member of a
// value of unknown type is a problem, too. tree finds a template that has not been executed; nil: there is none.
func Problems(name string, data any, funcs map[string]any, tree func(name string) *parse.Tree) []string {
	c := &checker{tree: tree, funcs: funcs, seen: map[string]bool{}}
	c.template(name, value{typ: reflect.TypeOf(data)})
	return c.problems
}

func (c *checker) template(name string, dot value) {
	key := fmt.Sprint(name, dot)
	tree := c.tree(name)
	if tree == nil {
		c.problems = append(c.problems, fmt.Sprintf("there is no template %q", name))
	}
	if tree == nil || c.seen[key] {
		return
	}
	c.seen[key] = true
	outer := c.vars
	c.vars = []variable{{"$", dot}}
	c.list(tree.Root, dot)
	c.vars = outer
}

func (c *checker) list(l *parse.ListNode, dot value) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			c.pipe(n.Pipe, dot)
		case *parse.TemplateNode:
			c.template(n.Name, c.pipe(n.Pipe, dot))
		case *parse.IfNode:
			c.branch(&n.BranchNode, dot, func(value) value { return dot })
		case *parse.WithNode:
			c.branch(&n.BranchNode, dot, func(v value) value { return v })
		case *parse.RangeNode:
			c.branch(&n.BranchNode, dot, func(all value) value {
				key, one := elements(all)
				for i, declared := range n.Pipe.Decl {
					of := one
					if i == 0 && len(n.Pipe.Decl) == 2 {
						of = key
					}
					c.set(declared.Ident[0], of)
				}
				return one
			})
		}
	}
}

// branch checks both ways; inside gives the dot of the first. Variables that are declared there end with it.
func (c *checker) branch(n *parse.BranchNode, dot value, inside func(value) value) {
	before := len(c.vars)
	c.list(n.List, inside(c.pipe(n.Pipe, dot)))
	c.list(n.ElseList, dot)
	c.vars = c.vars[:before]
}

func (c *checker) pipe(p *parse.PipeNode, dot value) (v value) {
	if p == nil {
		return v
	}
	for _, command := range p.Cmds {
		var args []value
		for _, arg := range command.Args[1:] {
			args = append(args, c.of(arg, dot))
		}
		if function, is := command.Args[0].(*parse.IdentifierNode); is {
			v = c.call(function.Ident, command.Args[1:], args)
		} else {
			v = c.of(command.Args[0], dot)
		}
	}
	for _, declared := range p.Decl {
		if p.IsAssign {
			c.find(declared.Ident[0]).value = v
		} else {
			c.set(declared.Ident[0], v)
		}
	}
	return v
}

func (c *checker) set(name string, v value) { c.vars = append(c.vars, variable{name, v}) }

// find returns the innermost variable of a name: the parser lets none pass that is not declared.
func (c *checker) find(name string) *variable {
	at := len(c.vars) - 1
	for c.vars[at].name != name {
		at--
	}
	return &c.vars[at]
}

func (c *checker) of(n parse.Node, dot value) value {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return c.members(n, dot, n.Ident)
	case *parse.VariableNode:
		return c.members(n, c.find(n.Ident[0]).value, n.Ident[1:])
	case *parse.ChainNode:
		return c.members(n, c.of(n.Node, dot), n.Field)
	case *parse.PipeNode:
		return c.pipe(n, dot)
	case *parse.IdentifierNode:
		return c.call(n.Ident, nil, nil)
	case *parse.StringNode:
		return value{typ: reflect.TypeFor[string]()}
	}
	return value{}
}

func (c *checker) call(function string, nodes []parse.Node, args []value) (v value) {
	switch function {
	case "dict":
		v.keys = map[string]value{}
		for n := 0; n+1 < len(args); n += 2 {
			if key, is := nodes[n].(*parse.StringNode); is {
				v.keys[key.Text] = args[n+1]
			}
		}
	case "index":
		v = args[0]
		for range args[1:] {
			_, v = elements(v)
		}
	case "and", "or": // one of them
		v = args[0]
		for _, other := range args[1:] {
			if v.typ != other.typ || v.keys != nil || other.keys != nil {
				return value{}
			}
		}
	default:
		if f := reflect.TypeOf(c.funcs[function]); f != nil {
			v.typ = f.Out(0)
		}
	}
	return v
}

// elements returns the keys and the elements of what range and index go through.
func elements(all value) (key, one value) {
	if all.typ == nil {
		return key, one
	}
	t, addressable := indirect(all)
	switch t.Kind() {
	case reflect.Map:
		return value{typ: t.Key()}, value{typ: t.Elem()}
	case reflect.Slice, reflect.Array:
		return value{typ: reflect.TypeFor[int]()},
			value{typ: t.Elem(), addressable: addressable || t.Kind() == reflect.Slice}
	case reflect.Int:
		return value{typ: t}, value{typ: t}
	}
	return key, one
}

func indirect(v value) (reflect.Type, bool) {
	if v.typ.Kind() == reflect.Pointer {
		return v.typ.Elem(), true
	}
	return v.typ, v.addressable
}

// members reads one member after the other.
func (c *checker) members(at parse.Node, v value, names []string) value {
	for _, name := range names {
		of, has := v.member(name)
		if !has {
			location, text := (&parse.Tree{}).ErrorContext(at)
			c.problems = append(c.problems, fmt.Sprintf("%s: %s: there is no %s in %v", location, text, name, v))
			return value{}
		}
		v = of
	}
	return v
}

func (v value) member(name string) (of value, has bool) {
	if v.keys != nil {
		of, has = v.keys[name]
		return of, has
	}
	if v.typ == nil {
		return of, false
	}
	receiver, addressable := indirect(v)
	methods := v.typ
	if addressable {
		methods = reflect.PointerTo(receiver)
	}
	if m, is := methods.MethodByName(name); is {
		return value{typ: m.Type.Out(0)}, true
	}
	switch receiver.Kind() {
	case reflect.Struct:
		f, is := receiver.FieldByName(name)
		// a field of an embedded struct may be behind a pointer
		return value{typ: f.Type, addressable: addressable || len(f.Index) > 1}, is && f.IsExported()
	case reflect.Map:
		return value{typ: receiver.Elem()}, true
	}
	return of, false
}

// String names the type.
func (v value) String() string {
	switch {
	case v.keys != nil:
		return fmt.Sprint(v.keys)
	case v.typ == nil:
		return "a value of unknown type"
	}
	return v.typ.String()
}
