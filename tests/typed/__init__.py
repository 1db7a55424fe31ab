"""Tests of the typed tools."""
