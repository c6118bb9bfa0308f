"""Files of chats and of records, from other programs or from an export, as breadcrumbs to publish."""
