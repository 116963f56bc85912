"""`Campaign`: the captured candidates of every run, in memory and on disk."""
