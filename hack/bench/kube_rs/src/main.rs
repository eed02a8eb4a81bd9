//! One task of hack/bench on kube-rs: sync (B3, B4) and storm (B5), in JSON, which is all it speaks.
//! Prints one line of JSON for each figure, as hack/bench/ours does.
//!
//! usage: kube_rs sync|storm --kubeconfig=FILE --objects=N [--events=N] [--list]
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client, Config};
use std::time::Instant;

/// User and system seconds of this process since it began.
fn cpu_seconds() -> f64 {
    // SAFETY: getrusage fills the struct that it is given.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// A field of /proc/self/status, in bytes.
fn memory(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc/self/status");
    let line = status.lines().find(|l| l.split(':').next() == Some(field)).expect("a known field");
    let kilobytes = line.split_whitespace().nth(1).expect("a value");
    kilobytes.parse::<f64>().expect("a number") * 1024.0
}

fn report(metric: &str, value: f64, unit: &str) {
    println!(r#"{{"metric": "{metric}", "value": {value}, "unit": "{unit}"}}"#);
}

struct Options {
    task: String,
    kubeconfig: String,
    objects: u64,
    events: u64,
    list: bool,
}

fn options() -> Options {
    let mut o = Options { task: String::new(), kubeconfig: String::new(), objects: 1000, events: 1000, list: false };
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("--kubeconfig", v)) => o.kubeconfig = v.into(),
            Some(("--objects", v)) => o.objects = v.parse().expect("--objects"),
            Some(("--events", v)) => o.events = v.parse().expect("--events"),
            None if argument == "--list" => o.list = true,
            None if !argument.starts_with('-') => o.task = argument,
            _ => panic!("unknown argument {argument}"),
        }
    }
    o
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let o = options();
    let anonymous = memory("RssAnon");
    let kubeconfig = Kubeconfig::read_from(&o.kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let api: Api<ConfigMap> = Api::namespaced(Client::try_from(config)?, "bench");
    let (store, writer) = reflector::store();
    // With a list of any version there are no pages, which is the cheapest it can do.
    let how = watcher::Config::default();
    let how = if o.list { how.any_semantic() } else { how.streaming_lists() };
    let mut events = watcher(api, how).default_backoff().reflect(writer).boxed();
    let mut objects = 0;
    loop {
        match events.next().await.expect("an endless stream")? {
            watcher::Event::InitApply(_) => objects += 1,
            watcher::Event::InitDone => break,
            _ => {}
        }
    }
    store.wait_until_ready().await?;
    assert_eq!(objects, o.objects);
    if o.task == "sync" {
        report("cpu", cpu_seconds(), "s");
        report("peak rss", memory("VmHWM"), "B");
        report("rss", memory("VmRSS"), "B");
        report("bytes per object", (memory("RssAnon") - anonymous) / o.objects as f64, "B");
        return Ok(());
    }
    let (before, start) = (cpu_seconds(), Instant::now());
    println!("ready");
    let mut seen = 0;
    while seen < o.events {
        if let watcher::Event::Apply(_) = events.next().await.expect("an endless stream")? {
            seen += 1;
        }
    }
    let took = start.elapsed().as_secs_f64();
    report("cpu per 1M events", (cpu_seconds() - before) * 1e6 / o.events as f64, "s");
    report("events per second", o.events as f64 / took, "1/s");
    report("peak rss", memory("VmHWM"), "B");
    Ok(())
}
