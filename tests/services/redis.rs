//! Redis: killed connections, a server that loads, a failover.
