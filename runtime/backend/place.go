package backend

// Placer is a Backend of which there are several, such as clusters: the options of
// an app say on which one it is.
type Placer interface {
	// Place writes down in the options what surroundings say, such as the current
	// context of a kubeconfig, so that the app is found again when they have changed.
	// It contacts nobody. Errors: ErrUnavailable, ErrInvalidOption.
	Place(cfg Config) (Config, error)
}
