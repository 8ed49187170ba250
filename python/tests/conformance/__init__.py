"""The conformance suite, described in tests/conformance/README.md."""
