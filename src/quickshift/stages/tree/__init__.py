"""The cluster tree: built by `link`, pruned by significance, compared, exported and saved."""
