package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/runtime/backend"
)

// Classes of errors, in addition to those of package backend.
var (
	// ErrForbidden means that the user lacks a right.
	ErrForbidden = errors.New("forbidden")
	// ErrRefused means that the server or one of its webhooks does not accept the object.
	ErrRefused = errors.New("refused")
	// ErrTooLarge is an ErrRefused for an object that is too large to store.
	ErrTooLarge = fmt.Errorf("%w: too large", ErrRefused)
	// errQuota is an ErrRefused for an object that a quota leaves no room for now.
	errQuota = fmt.Errorf("%w: %w", ErrRefused, backend.ErrQuotaExceeded)
)

// Explain turns a failure into one line: what, where, what to do. The error wraps the API's
// error and backend.ErrNotFound, ErrExists, ErrUnavailable (the server cannot be used or
// reached), ErrForbidden or ErrRefused. Explain returns context.Canceled unchanged.
func (c *Client) Explain(err error) error {
	err = c.now.Load().explain(err)
	if errors.Is(err, backend.ErrUnavailable) {
		c.renew()
	}
	return err
}

func (a *Access) explain(err error) error {
	var explained *Error
	switch {
	case err == nil, errors.As(err, &explained):
		return err
	case errors.Is(err, context.Canceled):
		return context.Canceled
	}
	e := &Error{cause: err}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		e.text, e.class = a.serverError(status.Status())
	} else {
		e.class, e.text = backend.ErrUnavailable, a.unreachable(err)
	}
	return e
}

// Error is an explained failure.
type Error struct {
	text  string
	class error // nil: none
	cause error
}

func (e *Error) Error() string { return e.text }

// Unwrap returns the class and the cause.
func (e *Error) Unwrap() []error {
	if e.class == nil {
		return []error{e.cause}
	}
	return []error{e.class, e.cause}
}

// serverError explains an error response.
func (a *Access) serverError(s metav1.Status) (text string, class error) {
	msg := clean(s.Message)
	refused := fmt.Sprintf("%s refuses the object: %s", a, msg)
	switch s.Reason {
	case metav1.StatusReasonUnauthorized:
		return fmt.Sprintf("%s: the server %s does not accept the credentials%s, which may have expired: log in again and try `kubectl%s auth whoami`",
			a, a.Server, a.user(), a.Flag()), backend.ErrUnavailable
	case metav1.StatusReasonForbidden:
		return a.forbidden(s, msg)
	case metav1.StatusReasonNotFound:
		return a.missing(s, msg), backend.ErrNotFound
	case metav1.StatusReasonAlreadyExists:
		return a.String() + ": " + msg, backend.ErrExists
	case metav1.StatusReasonRequestEntityTooLarge:
		return refused, ErrTooLarge
	case metav1.StatusReasonInvalid, metav1.StatusReasonBadRequest:
		return refused, ErrRefused
	case metav1.StatusReasonConflict, metav1.StatusReasonGone, metav1.StatusReasonExpired:
		return a.String() + ": " + msg, nil
	}
	switch {
	case strings.Contains(msg, "failed calling webhook"):
		return fmt.Sprintf("%s: a webhook of the cluster does not respond, so the server accepts no objects: %s", a, msg), backend.ErrUnavailable
	case strings.Contains(msg, "denied the request"): // by a webhook that sets its own status code
		return refused, ErrRefused
	case strings.Contains(msg, "request is too large"), strings.Contains(msg, "message larger than max"): // of etcd, and of its client
		return fmt.Sprintf("%s refuses the object, it is too large for its store: %s", a, msg), ErrTooLarge
	case s.Code >= http.StatusInternalServerError, s.Code == http.StatusTooManyRequests:
		return fmt.Sprintf("%s: the server %s failed: %s", a, a.Server, msg), backend.ErrUnavailable
	}
	return a.String() + ": " + msg, nil
}

// rbac matches the message of the server's authorizer.
const rbac = `[Uu]ser "([^"]*)" cannot (\S+) (?:resource "([^"]*)" in API group "([^"]*)"(?: in the namespace "([^"]*)")?|path "([^"]*)")`

// forbidden tells a missing right from a refusal by quotas, priority classes or policies,
// which have the same reason.
func (a *Access) forbidden(s metav1.Status, msg string) (text string, class error) {
	m := regexp.MustCompile(rbac).FindStringSubmatch(msg)
	if m == nil {
		if apierrors.HasStatusCause(&apierrors.StatusError{ErrStatus: s}, corev1.NamespaceTerminatingCause) {
			msg = "the namespace is being deleted: " + msg
		}
		class = ErrRefused
		if strings.Contains(msg, "exceeded quota") { // k8s.io/apiserver/pkg/admission/plugin/resourcequota
			class = errQuota
		}
		return fmt.Sprintf("%s refuses the object: %s", a, msg), class
	}
	what := m[2] + " " + m[3]
	if m[4] != "" {
		what += "." + m[4]
	}
	if m[6] != "" {
		what = m[2] + " " + m[6]
	}
	if m[5] != "" {
		what += " in namespace " + m[5]
	}
	return fmt.Sprintf("%s: %s may not %s: ask for a role with this right", a, m[1], what), ErrForbidden
}

// missing explains that an object does not exist.
func (a *Access) missing(s metav1.Status, msg string) string {
	d := s.Details
	switch {
	case d != nil && d.Kind == Namespaces.Name && d.Name != "":
		return fmt.Sprintf("%s has no namespace %s: choose another by -cfg namespace=NAME, or run `kubectl%s create namespace %s`", a, d.Name, a.Flag(), d.Name)
	case d == nil || d.Name == "":
		return fmt.Sprintf("%s: the server %s does not know this kind of object, its controller is not installed: %s", a, a.Server, msg)
	}
	return a.String() + ": " + msg
}

// unreachable explains why the server did not respond.
func (a *Access) unreachable(err error) string {
	at := fmt.Sprintf("%s: the server %s", a, a.Server)
	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		timeout   net.Error
	)
	switch text := clean(cause(err).Error()); {
	case errors.As(err, &authority):
		return at + " has a certificate of an unknown authority: get a new kubeconfig, or set its certificate-authority"
	case errors.As(err, &host):
		return at + " has a certificate for other names: " + text
	case errors.As(err, &invalid):
		return at + " has a certificate that is not valid (see its dates and this machine's clock): " + text
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return at + " does not use TLS: check its address"
	case errors.As(err, &dns):
		return fmt.Sprintf("%s cannot be found, host name %s does not resolve: check the name, and whether you need a VPN", at, dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return at + " is not reachable, nothing listens at its address: check that the cluster runs and that the context is right"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout(),
		strings.Contains(text, "would exceed context deadline"): // of client-go's rate limiter
		return at + " does not respond: check that the cluster runs, and whether you need a VPN"
	case strings.Contains(text, "getting credentials"):
		return fmt.Sprintf("%s: the credentials%s cannot be obtained: %s", a, a.user(), text)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return at + " closed the connection: " + text
	default:
		return at + " cannot be reached: " + text
	}
}

// cause drops method and URL, which help less than the context's name.
func cause(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func (a *Access) user() string {
	if a.User == "" {
		return ""
	}
	return " of user " + a.User
}

// Flag returns the flag that selects the context for kubectl, with a leading space.
func (a *Access) Flag() string {
	if a.Context == "" {
		return ""
	}
	return " --context " + a.Context
}

// clean joins the lines of a text.
func clean(text string) string { return strings.Join(strings.Fields(text), " ") }

func oneLine(err error) error { return &Error{text: clean(err.Error()), cause: err} }
