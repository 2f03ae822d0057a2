package run

import "encoding/json"

// schema is a JSON Schema with the keywords that docs/schema/app.json uses. A test compares its
// verdicts with those of a library, which would cost 3.7 ms at each start of the program.
type schema struct {
	Ref                  string             `json:"$ref"`
	Type                 types              `json:"type"`
	Properties           map[string]*schema `json:"properties"`
	Required             []string           `json:"required"`
	AdditionalProperties additional         `json:"additionalProperties"`
	Items                *schema            `json:"items"`
	Enum                 []string           `json:"enum"`
	OneOf                []*schema          `json:"oneOf"` // objects, told apart by the enum of their kind
	Minimum              *float64           `json:"minimum"`
	Maximum              *float64           `json:"maximum"`
	MinLength            int                `json:"minLength"`
	MaxLength            int                `json:"maxLength"` // 0: any
	MinItems             int                `json:"minItems"`
	Defs                 map[string]*schema `json:"$defs"`
}

// types are the names of one type or several.
type types []string

func (t *types) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(t))
	}
	*t = make(types, 1)
	return json.Unmarshal(data, &(*t)[0])
}

// additional says which other names an object may have.
type additional struct {
	closed bool    // none
	values *schema // of their values; nil: any
}

func (a *additional) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		return json.Unmarshal(data, &a.values)
	}
	a.closed = string(data) == "false"
	return nil
}
