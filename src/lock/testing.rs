//! A back end that answers as a test says.
