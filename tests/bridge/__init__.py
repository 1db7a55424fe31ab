"""Tests of the bridge between blocking and async code."""
