"""Tests of `agentscope_like.text_search`."""
