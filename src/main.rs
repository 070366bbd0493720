//! The executable: everything is in the library, so that tests can use it too.

/// musl's own allocator has one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    holdfast::cli::main()
}
