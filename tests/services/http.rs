//! reqwest and hyper against a server that answers by script.
