"""Handlebars templates of RCRT's records, converted to Jinja2: text → tokens → tree → Jinja2, with a report."""
