package agent

import "torchx/test/roles"

var (
	role    = roles.New
	retries = roles.Retries
	elastic = roles.Elastic
	ordered = roles.Ordered
)
