"""A study while it runs: the follower of its journals, bounds on open scores, the live page's server, the watcher."""
