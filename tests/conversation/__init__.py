"""Tests of the chat that an agent works for, and of what was activated for its run."""
