// Package templatecheck finds the members that a template reads and that the Go type of its data lacks, for tests.
// Executing a template finds them only in the branches that are taken. It follows range, with, variables, the function
// dict, and each part with each type of data that it is given.
package templatecheck

import (
	"fmt"
	"reflect"
	"text/template/parse"
)

// typeInfo is what is known of a value: its type (nil: unknown), whether methods of its pointer can be called, and what
// dict put into it.
type typeInfo struct {
	typ           reflect.Type
	isAddressable bool
	dictMembers   map[string]typeInfo
}

type variable struct {
	name string
	typeInfo
}

type checker struct {
	findTree    func(name string) *parse.Tree
	funcs       map[string]any
	checkedKeys map[string]bool // templates with the values that they were given
	variables   []variable
	problems    []string
}

// Problems lists what a template, and those that it uses, read of data without that its type has it. A member of a
// value of unknown type is a problem, too. findTree finds a template that has not been executed; nil: there is none.
func Problems(name string, data any, funcs map[string]any, findTree func(name string) *parse.Tree) []string {
	c := &checker{findTree: findTree, funcs: funcs, checkedKeys: map[string]bool{}}
	c.checkTemplate(name, typeInfo{typ: reflect.TypeOf(data)})
	return c.problems
}

func (c *checker) checkTemplate(name string, dot typeInfo) {
	key := fmt.Sprint(name, dot)
	tree := c.findTree(name)
	if tree == nil {
		c.problems = append(c.problems, fmt.Sprintf("there is no template %q", name))
	}
	if tree == nil || c.checkedKeys[key] {
		return
	}
	c.checkedKeys[key] = true
	outerVariables := c.variables
	c.variables = []variable{{"$", dot}}
	c.checkNodes(tree.Root, dot)
	c.variables = outerVariables
}

func (c *checker) checkNodes(l *parse.ListNode, dot typeInfo) {
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
			c.checkBranch(&n.BranchNode, dot, func(typeInfo) typeInfo { return dot })
		case *parse.WithNode:
			c.checkBranch(&n.BranchNode, dot, func(v typeInfo) typeInfo { return v })
		case *parse.RangeNode:
			c.checkBranch(&n.BranchNode, dot, func(container typeInfo) typeInfo {
				key, element := elementTypes(container)
				for i, declared := range n.Pipe.Decl {
					declaredType := element
					if i == 0 && len(n.Pipe.Decl) == 2 {
						declaredType = key
					}
					c.declare(declared.Ident[0], declaredType)
				}
				return element
			})
		}
	}
}

// checkBranch checks both ways; dotInside gives the dot of the first. Variables that are declared there end with it.
func (c *checker) checkBranch(n *parse.BranchNode, dot typeInfo, dotInside func(typeInfo) typeInfo) {
	outerVariableCount := len(c.variables)
	c.checkNodes(n.List, dotInside(c.checkPipe(n.Pipe, dot)))
	c.checkNodes(n.ElseList, dot)
	c.variables = c.variables[:outerVariableCount]
}

func (c *checker) checkPipe(p *parse.PipeNode, dot typeInfo) (v typeInfo) {
	if p == nil {
		return v
	}
	for _, command := range p.Cmds {
		var args []typeInfo
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
			c.findVariable(declared.Ident[0]).typeInfo = v
		} else {
			c.declare(declared.Ident[0], v)
		}
	}
	return v
}

func (c *checker) declare(name string, v typeInfo) {
	c.variables = append(c.variables, variable{name, v})
}

// findVariable returns the innermost variable of a name: the parser lets none pass that is not declared.
func (c *checker) findVariable(name string) *variable {
	index := len(c.variables) - 1
	for c.variables[index].name != name {
		index--
	}
	return &c.variables[index]
}

func (c *checker) valueOf(n parse.Node, dot typeInfo) typeInfo {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return c.resolveMembers(n, dot, n.Ident)
	case *parse.VariableNode:
		return c.resolveMembers(n, c.findVariable(n.Ident[0]).typeInfo, n.Ident[1:])
	case *parse.ChainNode:
		return c.resolveMembers(n, c.valueOf(n.Node, dot), n.Field)
	case *parse.PipeNode:
		return c.checkPipe(n, dot)
	case *parse.IdentifierNode:
		return c.callResult(n.Ident, nil, nil)
	case *parse.StringNode:
		return typeInfo{typ: reflect.TypeFor[string]()}
	}
	return typeInfo{}
}

func (c *checker) callResult(functionName string, nodes []parse.Node, args []typeInfo) (v typeInfo) {
	switch functionName {
	case "dict":
		v.dictMembers = map[string]typeInfo{}
		for n := 0; n+1 < len(args); n += 2 {
			if key, isText := nodes[n].(*parse.StringNode); isText {
				v.dictMembers[key.Text] = args[n+1]
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
			if v.typ != other.typ || v.dictMembers != nil || other.dictMembers != nil {
				return typeInfo{}
			}
		}
	default:
		if f := reflect.TypeOf(c.funcs[functionName]); f != nil {
			v.typ = f.Out(0)
		}
	}
	return v
}

// elementTypes returns the keys and the elements of what range and index go through.
func elementTypes(container typeInfo) (key, element typeInfo) {
	if container.typ == nil {
		return key, element
	}
	t, isAddressable := indirect(container)
	switch t.Kind() {
	case reflect.Map:
		return typeInfo{typ: t.Key()}, typeInfo{typ: t.Elem()}
	case reflect.Slice, reflect.Array:
		return typeInfo{typ: reflect.TypeFor[int]()},
			typeInfo{typ: t.Elem(), isAddressable: isAddressable || t.Kind() == reflect.Slice}
	case reflect.Int:
		return typeInfo{typ: t}, typeInfo{typ: t}
	}
	return key, element
}

func indirect(v typeInfo) (reflect.Type, bool) {
	if v.typ.Kind() == reflect.Pointer {
		return v.typ.Elem(), true
	}
	return v.typ, v.isAddressable
}

// resolveMembers reads one member after the other.
func (c *checker) resolveMembers(node parse.Node, v typeInfo, memberNames []string) typeInfo {
	for _, name := range memberNames {
		member, exists := v.member(name)
		if !exists {
			location, text := (&parse.Tree{}).ErrorContext(node)
			c.problems = append(c.problems, fmt.Sprintf("%s: %s: there is no %s in %v", location, text, name, v))
			return typeInfo{}
		}
		v = member
	}
	return v
}

func (v typeInfo) member(name string) (memberType typeInfo, isFound bool) {
	if v.dictMembers != nil {
		memberType, isFound = v.dictMembers[name]
		return memberType, isFound
	}
	if v.typ == nil {
		return memberType, false
	}
	baseType, isAddressable := indirect(v)
	methodType := v.typ
	if isAddressable {
		methodType = reflect.PointerTo(baseType)
	}
	if m, exists := methodType.MethodByName(name); exists {
		return typeInfo{typ: m.Type.Out(0)}, true
	}
	switch baseType.Kind() {
	case reflect.Struct:
		f, exists := baseType.FieldByName(name)
		// a field of an embedded struct may be behind a pointer
		return typeInfo{typ: f.Type, isAddressable: isAddressable || len(f.Index) > 1}, exists && f.IsExported()
	case reflect.Map:
		return typeInfo{typ: baseType.Elem()}, true
	}
	return memberType, false
}

// String names the type.
func (v typeInfo) String() string {
	switch {
	case v.dictMembers != nil:
		return fmt.Sprint(v.dictMembers)
	case v.typ == nil:
		return "a value of unknown type"
	}
	return v.typ.String()
}
