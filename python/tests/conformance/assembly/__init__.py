"""Cases in which several agents answer together, described in tests/conformance/ASSEMBLIES.md."""
