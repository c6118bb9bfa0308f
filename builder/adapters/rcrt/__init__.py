"""The Handlebars templates of RCRT's records, written in Jinja2."""
