# What `library` says of this client, and what the package is called by. A test holds both against pyproject.toml.
VERSION = "0.1.0"
