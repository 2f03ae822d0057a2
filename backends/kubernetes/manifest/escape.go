package manifest

import "strings"

// index stands for the replica's number in texts of a template that several
// replicas share. NUL cannot be in an argument or variable, so it cannot be the user's.
const index = "\x00"

// indexVariable holds the replica's number there; it is defined before all others.
const indexVariable = "TORCHX_REPLICA_ID"

// literal writes text so that the kubelet hands it on unchanged. The kubelet makes
// $$ to $ and expands $(NAME); any other $ stays, which is the shell's. The index
// becomes a reference to its variable.
func literal(text string) string {
	if !strings.ContainsAny(text, "$"+index) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case text[i] == '$' && i+1 < len(text) && strings.IndexByte("$("+index, text[i+1]) >= 0:
			b.WriteString("$$")
		case text[i] == index[0]:
			b.WriteString("$(" + indexVariable + ")")
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
