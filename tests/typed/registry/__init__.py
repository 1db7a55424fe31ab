"""Tests of the registry of typed tools."""
