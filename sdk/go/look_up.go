package meridian

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

const prefixField = "network.prefix"

// lookUp is what a caller asks of a result beyond the default, as the API names it.
type lookUp struct {
	Fields  []string `json:"fields,omitempty"`
	Include []string `json:"include,omitempty"`
	Lang    string   `json:"lang,omitempty"`
}

// LookUpOption says which result a look-up returns.
type LookUpOption func(*lookUp)

// Fields leaves only these fields, such as location.city, and all others zero.
func Fields(names ...string) LookUpOption {
	return func(asked *lookUp) { asked.Fields = append(asked.Fields, names...) }
}

// Include adds what results lack by default: network, privacy, or hostname, which lists do not have.
func Include(names ...string) LookUpOption {
	return func(asked *lookUp) { asked.Include = append(asked.Include, names...) }
}

// Lang is the language of names, such as de.
func Lang(language string) LookUpOption {
	return func(asked *lookUp) { asked.Lang = language }
}

func toAsked(options []LookUpOption) lookUp {
	var all lookUp
	for _, option := range options {
		option(&all)
	}
	return all
}

// query returns the options as the query of a GET.
func (a lookUp) query() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{
		"fields":  strings.Join(a.Fields, ","),
		"include": strings.Join(a.Include, ","),
		"lang":    a.Lang,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// kind is the same text for the same options.
func (a lookUp) kind() string {
	text, _ := json.Marshal(a)
	return string(text)
}

func (a lookUp) has(name string) bool {
	return slices.Contains(a.Include, name) || slices.Contains(a.Fields, name)
}

// keepsPrefix is whether the result has network.prefix where it is known.
func (a lookUp) keepsPrefix() bool {
	if len(a.Fields) == 0 || slices.Contains(a.Fields, "network") {
		return slices.Contains(a.Include, "network") || slices.Contains(a.Fields, prefixField)
	}
	return slices.Contains(a.Fields, prefixField)
}

// withPrefix returns the same, and network.prefix.
func (a lookUp) withPrefix() lookUp {
	if a.keepsPrefix() {
		return a
	}
	if len(a.Fields) == 0 {
		a.Include = append(slices.Clone(a.Include), "network")
	} else {
		a.Fields = append(slices.Clone(a.Fields), prefixField)
	}
	return a
}
