//! Servers of others, started on a free loopback port and stopped again.
