PREFIX = "team"
