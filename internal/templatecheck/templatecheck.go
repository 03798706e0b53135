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
	tree        func(name string) *parse.Tree
	funcs       map[string]any
	checkedKeys map[string]bool // templates with the values that they were given
	variables   []variable
	problems    []string
}

// Problems lists what a template, and those that it uses, read of data without that its type has it. A member of a
// value of unknown type is a problem, too. tree finds a template that has not been executed; nil: there is none.
func Problems(name string, data any, funcs map[string]any, tree func(name string) *parse.Tree) []string {
	c := &checker{tree: tree, funcs: funcs, checkedKeys: map[string]bool{}}
	c.checkTemplate(name, value{typ: reflect.TypeOf(data)})
	return c.problems
}

func (c *checker) checkTemplate(name string, dot value) {
	key := fmt.Sprint(name, dot)
	tree := c.tree(name)
	if tree == nil {
		c.problems = append(c.problems, fmt.Sprintf("there is no template %q", name))
	}
	if tree == nil || c.checkedKeys[key] {
		return
	}
	c.checkedKeys[key] = true
	outer := c.variables
	c.variables = []variable{{"$", dot}}
	c.checkList(tree.Root, dot)
	c.variables = outer
}

func (c *checker) checkList(l *parse.ListNode, dot value) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			c.checkPipe(n.Pipe, dot)
		case *parse.TemplateNode:
			c.checkTemplate(n.Name, c.checkPipe(n.Pipe, dot))
		case *parse.IfNode:
			c.checkBranch(&n.BranchNode, dot, func(value) value { return dot })
		case *parse.WithNode:
			c.checkBranch(&n.BranchNode, dot, func(v value) value { return v })
		case *parse.RangeNode:
			c.checkBranch(&n.BranchNode, dot, func(all value) value {
				key, element := elementTypes(all)
				for i, declared := range n.Pipe.Decl {
					declaredValue := element
					if i == 0 && len(n.Pipe.Decl) == 2 {
						declaredValue = key
					}
					c.declare(declared.Ident[0], declaredValue)
				}
				return element
			})
		}
	}
}

// checkBranch checks both ways; inside gives the dot of the first. Variables that are declared there end with it.
func (c *checker) checkBranch(n *parse.BranchNode, dot value, dotInside func(value) value) {
	outerVars := len(c.variables)
	c.checkList(n.List, dotInside(c.checkPipe(n.Pipe, dot)))
	c.checkList(n.ElseList, dot)
	c.variables = c.variables[:outerVars]
}

func (c *checker) checkPipe(p *parse.PipeNode, dot value) (v value) {
	if p == nil {
		return v
	}
	for _, command := range p.Cmds {
		var args []value
		for _, arg := range command.Args[1:] {
			args = append(args, c.valueOf(arg, dot))
		}
		if function, isIdentifier := command.Args[0].(*parse.IdentifierNode); isIdentifier {
			v = c.callResult(function.Ident, command.Args[1:], args)
		} else {
			v = c.valueOf(command.Args[0], dot)
		}
	}
	for _, declared := range p.Decl {
		if p.IsAssign {
			c.find(declared.Ident[0]).value = v
		} else {
			c.declare(declared.Ident[0], v)
		}
	}
	return v
}

func (c *checker) declare(name string, v value) { c.variables = append(c.variables, variable{name, v}) }

// find returns the innermost variable of a name: the parser lets none pass that is not declared.
func (c *checker) find(name string) *variable {
	at := len(c.variables) - 1
	for c.variables[at].name != name {
		at--
	}
	return &c.variables[at]
}

func (c *checker) valueOf(n parse.Node, dot value) value {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return c.members(n, dot, n.Ident)
	case *parse.VariableNode:
		return c.members(n, c.find(n.Ident[0]).value, n.Ident[1:])
	case *parse.ChainNode:
		return c.members(n, c.valueOf(n.Node, dot), n.Field)
	case *parse.PipeNode:
		return c.checkPipe(n, dot)
	case *parse.IdentifierNode:
		return c.callResult(n.Ident, nil, nil)
	case *parse.StringNode:
		return value{typ: reflect.TypeFor[string]()}
	}
	return value{}
}

func (c *checker) callResult(function string, nodes []parse.Node, args []value) (v value) {
	switch function {
	case "dict":
		v.keys = map[string]value{}
		for n := 0; n+1 < len(args); n += 2 {
			if key, isText := nodes[n].(*parse.StringNode); isText {
				v.keys[key.Text] = args[n+1]
			}
		}
	case "index":
		v = args[0]
		for range args[1:] {
			_, v = elementTypes(v)
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

// elementTypes returns the keys and the elements of what range and index go through.
func elementTypes(container value) (key, element value) {
	if container.typ == nil {
		return key, element
	}
	t, addressable := indirect(container)
	switch t.Kind() {
	case reflect.Map:
		return value{typ: t.Key()}, value{typ: t.Elem()}
	case reflect.Slice, reflect.Array:
		return value{typ: reflect.TypeFor[int]()},
			value{typ: t.Elem(), addressable: addressable || t.Kind() == reflect.Slice}
	case reflect.Int:
		return value{typ: t}, value{typ: t}
	}
	return key, element
}

func indirect(v value) (reflect.Type, bool) {
	if v.typ.Kind() == reflect.Pointer {
		return v.typ.Elem(), true
	}
	return v.typ, v.addressable
}

// members reads one member after the other.
func (c *checker) members(node parse.Node, v value, names []string) value {
	for _, name := range names {
		member, exists := v.member(name)
		if !exists {
			location, text := (&parse.Tree{}).ErrorContext(node)
			c.problems = append(c.problems, fmt.Sprintf("%s: %s: there is no %s in %v", location, text, name, v))
			return value{}
		}
		v = member
	}
	return v
}

func (v value) member(name string) (result value, has bool) {
	if v.keys != nil {
		result, has = v.keys[name]
		return result, has
	}
	if v.typ == nil {
		return result, false
	}
	receiver, addressable := indirect(v)
	methods := v.typ
	if addressable {
		methods = reflect.PointerTo(receiver)
	}
	if m, exists := methods.MethodByName(name); exists {
		return value{typ: m.Type.Out(0)}, true
	}
	switch receiver.Kind() {
	case reflect.Struct:
		f, exists := receiver.FieldByName(name)
		// a field of an embedded struct may be behind a pointer
		return value{typ: f.Type, addressable: addressable || len(f.Index) > 1}, exists && f.IsExported()
	case reflect.Map:
		return value{typ: receiver.Elem()}, true
	}
	return result, false
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
