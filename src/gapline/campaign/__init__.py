"""`Campaign`: what the solvers said, in memory and on disk."""
