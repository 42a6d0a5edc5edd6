"""Reads one callable: its names, types, words and effects."""
