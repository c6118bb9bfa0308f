"""Operations on a store and a stream, beside the running service."""
