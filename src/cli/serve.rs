//! `holdfast serve`: runs the service until it is told to stop.

use super::first_run::{self, Example};
use super::{Context, log, print};
use crate::error::Error;
use crate::routes::ROUTES;
use crate::service::Service;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// How long `healthcheck` waits.
const HEALTHCHECK_TIMEOUT: Duration = Duration::from_secs(3);

/// Serves until SIGTERM or SIGINT. The signals are listened for before anything else: whoever starts the
/// service may stop it at once.
pub fn serve(context: Context, example: Example) -> Result<(), Error> {
    log::start(context.config.log);
    let broken = |cause: std::io::Error| Error::internal("waiting for signals", cause);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(broken)?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).map_err(broken)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(broken)?;
        let service = start(context, example)?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        ::log::info!("stopping");
        let mut stopping = tokio::task::spawn_blocking(move || service.stop());
        // A second signal ends it at once.
        tokio::select! {
            stopped = &mut stopping => stopped.map_err(|cause| Error::internal("stopping", cause))?,
            _ = terminate.recv() => std::process::exit(1),
            _ = interrupt.recv() => std::process::exit(1),
        }
    })
}

fn start(context: Context, example: Example) -> Result<Service, Error> {
    let scheme = if context.config.tls.is_some() { "https" } else { "http" };
    let chance = context.chance.clone();
    let service = Service::start(context.config, context.clock, context.chance, ROUTES, |app| {
        first_run::greet(app, &chance, example)
    })?;
    if let Some(address) = service.metrics_address {
        print(&format!("figures on http://{address}/metrics\n"))?;
    }
    print(&format!("listening on {scheme}://{}\n", service.address))?;
    Ok(service)
}

/// Asks the server on the listen address. Whose certificate it has does not matter here: the question
/// goes to this machine, and nothing secret goes with it.
pub fn healthcheck(context: &Context) -> Result<(), Error> {
    let mut address = context.config.listen;
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    let scheme = if context.config.tls.is_some() { "https" } else { "http" };
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(HEALTHCHECK_TIMEOUT))
        .proxy(None)
        .max_redirects(0)
        .tls_config(ureq::tls::TlsConfig::builder().disable_verification(true).build())
        .build()
        .into();
    let url = format!("{scheme}://{address}/api/healthz");
    agent.get(&url).call().map_err(|cause| Error::invalid(format!("{url}: {cause}")))?;
    Ok(())
}
