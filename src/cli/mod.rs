//! The command line: what an operator types, and what it prints.
//!
//! Results go to standard output, everything else to standard error. Exit codes:
//! 0 done, 1 failed (one line says why), 2 wrong usage.

mod admin;
mod audit;
mod first_run;
mod import;
mod log;
mod recovery;
mod scan;
mod serve;

use crate::chance::Chance;
use crate::clock::Clock;
use crate::config::{Config, Flags, SETTINGS, unknown_names};
use crate::domain::user::Role;
use crate::error::Error;
use crate::http::route::{Made, Makings};
use crate::reference::Reference;
use crate::routes::ROUTES;
use crate::store::{Purpose, Store};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Compliance and operational resilience in one executable.
#[derive(Parser)]
#[command(name = "holdfast", version, max_term_width = 100)]
struct Cli {
    /// The database file [default: holdfast.db]
    #[arg(long, global = true, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Address and port to listen on [default: 127.0.0.1:8080]
    #[arg(long, global = true, value_name = "ADDR")]
    listen: Option<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server (what `holdfast` alone does); the first start makes a tenant, an owner and a key
    Serve,
    /// Run the server with a realistic example tenant, in a file of its own (holdfast-demo.db)
    Demo,
    /// Create, list and delete tenants
    #[command(subcommand)]
    Tenant(TenantCommand),
    /// Create, list and disable people, and set passwords
    #[command(subcommand)]
    User(UserCommand),
    /// Create, list and revoke API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Load a tenant's data from a JSON or CSV file: all of it, or nothing and every fault
    Import {
        /// The tenant's name
        #[arg(long)]
        tenant: String,
        /// The file
        file: PathBuf,
        /// What the rows of a CSV file are, for example findings
        #[arg(long)]
        kind: Option<String>,
        /// Tell no webhook of what is imported
        #[arg(long)]
        no_events: bool,
    },
    /// Write a tenant's data in the format that `import` reads
    Export {
        /// The tenant's name
        #[arg(long)]
        tenant: String,
        /// The file; standard output if not given
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Load a report of another vulnerability scanner
    #[command(subcommand)]
    Scan(ScanCommand),
    /// Print the bill of materials of this executable (CycloneDX JSON)
    Sbom,
    /// Verify, export and prune the log of security-relevant acts
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Copy the database to a file, also while the server runs; the copy is verified before it gets its name
    Backup {
        /// The file; an older backup of that name is replaced
        file: PathBuf,
    },
    /// Put a backup in the place of the database, which must not be in use; the replaced file is kept
    Restore {
        /// The backup
        file: PathBuf,
    },
    /// Verify the database: integrity, foreign keys, schema version; changes nothing
    Check,
    /// Fill the search index anew, should `check` find it wanting; writes of a running server wait meanwhile
    Reindex,
    /// Print the OpenAPI 3.1 document
    Openapi,
    /// Ask the running server whether it is alive; for container and service checks
    Healthcheck,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Subcommand)]
enum TenantCommand {
    /// Create a tenant; makes the database if there is none
    Create {
        /// Its name
        name: String,
    },
    /// List all tenants
    List,
    /// Delete a tenant with all its data
    Delete {
        /// Its name
        name: String,
        /// Yes, really
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Subcommand)]
enum ScanCommand {
    /// Load a report as the newest vulnerability scan: the JSON of osv-scanner, Trivy or Grype, or SARIF 2.1.0
    Import {
        /// The file
        file: PathBuf,
    },
}

#[derive(Subcommand)]
enum UserCommand {
    /// Create a person; the password is read from standard input, or made and printed
    Create {
        /// The tenant's name
        #[arg(long)]
        tenant: String,
        /// The mail address to sign in with
        #[arg(long)]
        email: String,
        /// What the person may do: owner, editor or viewer
        #[arg(long, value_parser = role)]
        role: Role,
        /// What others call the person
        #[arg(long, default_value = "", hide_default_value = true)]
        name: String,
    },
    /// List people
    List {
        /// Only those of this tenant
        #[arg(long)]
        tenant: Option<String>,
    },
    /// Set a new password, read from standard input, or made and printed
    Password {
        /// The mail address
        #[arg(long)]
        email: String,
    },
    /// Switch an account off and end its sessions
    Disable {
        /// The mail address
        #[arg(long)]
        email: String,
    },
    /// Switch an account on again
    Enable {
        /// The mail address
        #[arg(long)]
        email: String,
    },
}

#[derive(Subcommand)]
enum AuditCommand {
    /// Walk the whole chain; exit 1 if a row was changed, added or taken out
    Verify,
    /// Write every row as a line of JSON
    Export {
        /// The file; standard output if not given
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Take away rows that are older than 400 days; export them first
    Prune {
        /// Yes, really
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Subcommand)]
enum KeyCommand {
    /// Create a key and print it, alone, on standard output
    Create {
        /// The tenant's name
        #[arg(long)]
        tenant: String,
        /// What people call the key
        #[arg(long)]
        name: String,
        /// Permissions beyond reading, with commas: write, manage_keys
        #[arg(long, default_value = "", hide_default_value = true)]
        permissions: String,
        /// Days until it expires
        #[arg(long, value_name = "DAYS", conflicts_with = "expires_at", value_parser = clap::value_parser!(u32).range(1..=36500))]
        expires_in_days: Option<u32>,
        /// When it expires, as 2027-01-31T00:00:00Z
        #[arg(long, value_name = "TIME")]
        expires_at: Option<String>,
    },
    /// List a tenant's keys
    List {
        /// The tenant's name
        #[arg(long)]
        tenant: String,
    },
    /// Revoke a key; a running server refuses it within a second
    Revoke {
        /// The key's id, `key_…`
        id: String,
    },
}

fn role(name: &str) -> Result<Role, String> {
    Role::parse(name).ok_or_else(|| format!("must be one of: {}", Role::NAMES.join(", ")))
}

/// What every command gets.
struct Context {
    config: Config,
    clock: Clock,
    chance: Chance,
}

impl Context {
    fn store(&self, purpose: Purpose) -> Result<Store, Error> {
        Store::open(
            &self.config.db,
            purpose,
            self.config.keys_max,
            Arc::clone(&self.config.allowlist),
            self.config.reserve.clone(),
            self.clock.clone(),
            self.chance.clone(),
        )
    }
}

/// Reads the command line, does what it says, and gives the exit code.
pub fn main() -> ExitCode {
    // Whatever is written, it is for its owner only.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let clock = Clock::system();
    let matches = command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|fault| fault.exit());
    match run(cli, clock) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "holdfast: {error}");
            ExitCode::from(1)
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the environment enters")]
fn run(cli: Cli, clock: Clock) -> Result<(), Error> {
    let mut flags = Flags { db: cli.db, listen: cli.listen };
    if matches!(cli.command, Some(Command::Demo))
        && flags.db.is_none()
        && std::env::var_os("HOLDFAST_DB").is_none()
    {
        flags.db = Some(first_run::DEMO_FILE.into());
    }
    for setting in SETTINGS {
        if std::env::var_os(setting.name).is_some_and(|value| value.to_str().is_none()) {
            return Err(Error::invalid(format!("{} is not UTF-8", setting.name)));
        }
    }
    let config = Config::read(&flags, &|name| std::env::var(name).ok())?;
    for name in unknown_names(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())) {
        let _ = writeln!(std::io::stderr(), "holdfast: {name} is no setting; `holdfast help` lists all");
    }
    let context = Context { config, clock, chance: Chance::system() };
    match cli.command.unwrap_or(Command::Serve) {
        Command::Serve => serve::serve(context, first_run::Example::None),
        Command::Demo => serve::serve(context, first_run::Example::Bank),
        Command::Tenant(command) => admin::tenant(&context, command),
        Command::User(command) => admin::user(&context, command),
        Command::Key(command) => admin::key(&context, command),
        Command::Import { tenant, file, kind, no_events } => {
            import::import(&context, &tenant, &file, kind.as_deref(), !no_events)
        }
        Command::Export { tenant, out } => import::export(&context, &tenant, out.as_deref()),
        Command::Scan(ScanCommand::Import { file }) => scan::import(&context, &file),
        Command::Sbom => print(crate::scanner::BILL),
        Command::Audit(command) => audit::audit(&context, command),
        Command::Backup { file } => recovery::backup(&context, &file),
        Command::Restore { file } => recovery::restore(&context, &file),
        Command::Check => recovery::check(&context),
        Command::Reindex => admin::reindex(&context),
        Command::Openapi => openapi(&context),
        Command::Healthcheck => serve::healthcheck(&context),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), "holdfast", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
    }
}

/// The command line with the settings table behind its help.
fn command() -> clap::Command {
    let mut text = String::from("Settings, read from the environment:\n");
    for setting in SETTINGS {
        let default = if setting.default.is_empty() {
            "not set".into()
        } else {
            format!("default {}", setting.default)
        };
        let _ = write!(text, "  {} ({default})\n      {}\n", setting.name, setting.says);
    }
    Cli::command().after_help(text)
}

fn openapi(context: &Context) -> Result<(), Error> {
    let reference = Reference::load()?;
    let base_url = context.config.base_url();
    let makings = Makings {
        routes: ROUTES,
        reference: &reference,
        base_url: &base_url,
        contact: context.config.contact.as_deref(),
        limits: context.config.limits.as_ref(),
    };
    if let Made::Json(document) = crate::api::openapi::document(&makings)? {
        print(&format!("{document:#}\n"))?;
    }
    Ok(())
}

/// Writes to standard output; a reader that went away (`| head`) is no error, a full disk is.
fn print(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::invalid(format!("standard output cannot be written: {cause}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
