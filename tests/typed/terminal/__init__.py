"""Tests of the typed tool that is a terminal."""
