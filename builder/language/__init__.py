"""What words alone tell, whatever the conversation; the word lists are data by language."""
