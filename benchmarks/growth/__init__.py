"""The same house at several sizes: what each read, write, page and report takes at each."""
