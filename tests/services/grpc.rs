//! tonic against a scripted gRPC server.
