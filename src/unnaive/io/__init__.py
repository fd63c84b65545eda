"""Input and output: data frames, data files, network files, and the store of models."""
