"""Tools: the classes behind `little_ghost.Tool` and `little_ghost.tool`, and ready-made ones."""
