"""Tests of what calls declare that they touch."""
