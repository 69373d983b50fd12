//! `lockdrill worker`: one process that contends for the lock and writes to the store.
