"""Where rows come from and models go: frames, files, the model store."""
