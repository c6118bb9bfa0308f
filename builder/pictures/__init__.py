"""Pictures for README, docs and people: SVG from data, in light and dark. Commands draw them; nothing else imports this."""
