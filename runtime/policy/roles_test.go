package policy

import "torchx/test/roles"

var (
	role     = roles.New
	retries  = roles.Retries
	elastic  = roles.Elastic
	orderKey = roles.Ordered
)
