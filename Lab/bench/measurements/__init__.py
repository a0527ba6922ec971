"""One file for each metric. A measurement takes a stage, and adds to the results."""
