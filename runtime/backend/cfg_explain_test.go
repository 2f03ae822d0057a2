package backend

import (
	"reflect"
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	options := []Option{
		{Key: "queue", Type: TypeStr, Required: true},
		{Key: "rate", Type: TypeFloat, Default: 0.5},
		{Key: "quiet", Type: TypeBool},
		{Key: "count", Type: TypeInt, Default: 1},
		{Key: "none", Type: TypeInt, Default: 1},
	}
	given := Layer{{Key: "rate", Text: "2", Origin: "-cfg"}, {Key: "none", Text: "None", Origin: "-cfg"}}
	file := Layer{{Key: "rate", Text: "3", Origin: "f:1"}, {Key: "count", Text: "many", Origin: "f:2"}, {Key: "cuont", Text: "1", Origin: "f:3"}}
	got := Explain(options, given, file)
	for i, want := range []struct {
		value   any
		origins []string
		err     string
	}{
		{nil, nil, ""},
		{2.0, []string{"-cfg", "f:1"}, ""},
		{nil, nil, ""},
		{"many", []string{"f:2"}, "many"},
		{nil, []string{"-cfg"}, ""},
	} {
		var origins []string
		for _, v := range got[i].Given {
			origins = append(origins, v.Origin)
		}
		if got[i].Key != options[i].Key || !reflect.DeepEqual(got[i].Value, want.value) || !reflect.DeepEqual(origins, want.origins) {
			t.Errorf("%s: got %+v, want %+v", options[i].Key, got[i], want)
		}
		if (got[i].Err != nil) != (want.err != "") || got[i].Err != nil && !strings.Contains(got[i].Err.Error(), want.err) {
			t.Errorf("%s: got error %v, want %q", options[i].Key, got[i].Err, want.err)
		}
	}
	unused := Unused(options, given, file)
	if len(unused) != 1 || unused[0] != "f:3: unknown option cuont is ignored. Did you mean count?" {
		t.Errorf("got %q, want one warning about cuont", unused)
	}
}
