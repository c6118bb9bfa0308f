-- Late interaction did not pay for itself: nothing reads token vectors any more.
DROP TABLE IF EXISTS token_vectors;
