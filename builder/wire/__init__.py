"""What service and client share: subjects, records, JSON, requests."""
