//! The executable: everything is in the library, so that tests can use it too.

fn main() -> std::process::ExitCode {
    holdfast::cli::main()
}
