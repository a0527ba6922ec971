"""The bench: compares RoadMesh in the radio lab with other ways that Linux offers. See docs/benchmarks.md."""
