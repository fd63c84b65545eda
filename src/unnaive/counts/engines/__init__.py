"""Where rows are counted: the same kernels, other schedulers."""
