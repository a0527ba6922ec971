"""The bench: RoadMesh and what else Linux offers, side by side in the radio lab. See docs/benchmarks.md."""
