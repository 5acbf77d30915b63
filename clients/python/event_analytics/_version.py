# Name and version in `library`. A test compares them with pyproject.toml.
VERSION = "0.1.0"
