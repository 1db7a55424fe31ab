"""Tests of traces and of masking."""
