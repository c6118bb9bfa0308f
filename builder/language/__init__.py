"""Rules about words alone, whatever the conversation; the word lists are data by language."""
