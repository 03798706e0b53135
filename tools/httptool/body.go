package httptool

import (
	"errors"
	"maps"
	"mime"
	"strings"

	"processidea/model/jsonval"
)

const scopesField = "_scopes"

// fillBody returns the request's body and its content type; nil if the method carries its parameters in the query.
// declaredContentType is the content type that the tool names.
func fillBody(s Spec, f *templateFiller, scopeValues jsonval.Object,
	declaredContentType string) (body []byte, contentType string,
	err error) {
	if s.sendsParamsInQuery() {
		return nil, "", nil
	}
	v := any(f.params)
	if s.Body != nil {
		isPresent := false
		v, isPresent, err = f.fillValue(s.Body)
		if err == nil && !isPresent {
			err = errors.New("its one parameter is missing")
		}
		if err != nil {
			return nil, "", err
		}
	}
	v = withScopes(v, scopeValues)
	if jsonval.SizeUpToLimit(v, jsonval.MaxResolvedBytes) > jsonval.MaxResolvedBytes {
		return nil, "", errFilledTooLarge
	}
	body, contentType = encodeBody(v, declaredContentType)
	return body, contentType, nil
}

// bodyHasSecret reports whether the body's template names a secret.
func (s Spec) bodyHasSecret() bool {
	return strings.Contains(strings.Join(appendStrings(nil, s.Body), "\n"), secretPrefix)
}

// withScopes returns an object with the scopes added, and does not change the given one.
func withScopes(v any, scopeValues jsonval.Object) any {
	object, ok := v.(jsonval.Object)
	if !ok || len(scopeValues) == 0 {
		return v
	}
	object = maps.Clone(object)
	if object == nil {
		object = jsonval.Object{}
	}
	object[scopesField] = scopeValues
	return object
}

// encodeBody encodes the value as JSON, unless the tool names another type that fits it: an object becomes a form, a
// string is sent unchanged.
func encodeBody(v any, contentType string) ([]byte, string) {
	mediaType, _, _ := mime.ParseMediaType(contentType)
	object, isObject := v.(jsonval.Object)
	text, isText := v.(string)
	switch {
	case mediaType == "application/x-www-form-urlencoded" && isObject:
		return []byte(strings.Join(formPairs(object), "&")), contentType
	case mediaType != "" && !isJSONMediaType(mediaType) && isText:
		return []byte(text), contentType
	case contentType == "":
		contentType = "application/json"
	}
	if isObject && object == nil {
		return []byte("{}"), contentType
	}
	return jsonval.Encode(v), contentType
}

func formPairs(object jsonval.Object) []string {
	var pairs []string
	for name, v := range jsonval.Sorted(object) {
		pairs = append(pairs, queryPairs(encodeURLPart(name), v)...)
	}
	return pairs
}

func isJSONMediaType(mediaType string) bool {
	return mediaType == "application/json" || mediaType == "text/json" || strings.HasSuffix(mediaType, "+json")
}
