"""Shared by service and client: subjects, records, JSON, requests."""
