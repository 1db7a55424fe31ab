"""Tests of programs on pseudo-terminals."""
