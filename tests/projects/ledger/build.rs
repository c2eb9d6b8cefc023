// No dependency of a build script is ours, whatever it is called.
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
}
