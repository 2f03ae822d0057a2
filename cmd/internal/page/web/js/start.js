// The client starts here.
