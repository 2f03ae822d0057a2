// Package docker runs apps as containers of a Docker Engine.
package docker
