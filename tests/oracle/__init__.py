"""The execution oracle: what is called a read is run, and must have changed nothing."""
