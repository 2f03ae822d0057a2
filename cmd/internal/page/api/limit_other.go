//go:build !unix

package api

func maxClients() int { return 10_000 }
