//! The page of statistics in a real browser: what it shows, at two widths, and that nothing in it is executed.
//! Left out where Chromium is not installed. The screenshots stay in the folder of the target.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed"
)]

#[path = "../examples/servers/mod.rs"]
mod servers;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use reattempt::retry;
use reattempt::testing::virtual_time;

const HOSTILE_NAME: &str = "<img/src=x/onerror=\"document.title='executed'\">";
const HOSTILE_ERROR: &str =
    "</p><script>document.title = 'executed'</script>\n\"quoted\" & 'single' \u{1b}[31m";

#[retry(
    name = "orders::repository::load_open_orders",
    max = 2,
    base = "1500ms",
    jitter = "none",
    on(_)
)]
fn load(failures: &mut u32) -> Result<(), String> {
    if *failures > 0 {
        *failures -= 1;
        return Err("status 503".to_owned());
    }
    Ok(())
}

#[retry(
    name = "<img/src=x/onerror=\"document.title='executed'\">",
    max = 2,
    on(_)
)]
fn hostile() -> Result<(), String> {
    Err(HOSTILE_ERROR.to_owned())
}

/// Two calls of one operation recover and one gives up; another operation gives up.
fn fail() {
    let _time = virtual_time();
    for failures in [1, 1, 2] {
        assert_eq!(load(&mut { failures }).is_err(), failures == 2);
    }
    assert!(hostile().is_err());
}

#[test]
fn it_shows_what_failed_and_executes_nothing() {
    let Some(browser) = Browser::find() else {
        return;
    };
    fail();
    let page = reattempt::observe::stats_page(None);
    let site = Site::serve(page.clone());

    let dom = browser.dom(&site.address);
    let text = text_of(&dom);
    assert!(dom.contains("<title>Retries</title>"), "{dom}");
    for shown in [
        "Recovered 2",
        "Gave up 2",
        "orders::repository::load_open_orders 3 4 3 transient 3 2 1 attempts 1 4.5 s",
        HOSTILE_NAME,
        "</p><script>document.title = 'executed'</script> \"quoted\" & 'single' \u{fffd}[31m",
    ] {
        assert!(text.contains(shown), "{shown} is not in {text}");
    }
    assert_eq!(dom.matches("<tr").count(), 3);
    for element in ["<script", "<img", "<iframe"] {
        assert!(!dom.contains(element), "{element}");
    }
    for structure in [
        "<caption>",
        r#"scope="col""#,
        r#"scope="row""#,
        r#"<html lang="en">"#,
    ] {
        assert!(dom.contains(structure), "{structure}");
    }

    let desktop = Shot::take(&browser, &site.address, "desktop", (1280, 800));
    let phone = Shot::take(&browser, &site.address, "phone", (500, 1200));
    for shot in [desktop, phone] {
        assert!(shot.colours > 50, "{} colours", shot.colours);
        // Bars of what recovered and of what did not.
        for colour in [[0x1a, 0x7f, 0x4b], [0xc9, 0x37, 0x2c]] {
            assert!(shot.has(colour), "{colour:?}");
        }
    }
    // It asks for nothing but itself.
    assert_eq!(site.asked(), HashSet::from(["/".to_owned()]));
}

#[test]
fn what_would_be_executed_would_be_seen() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let script = "<script>document.title = 'executed'</script>";
    let bare = Site::serve(format!("<!doctype html><title>Retries</title>{script}"));
    assert!(
        browser
            .dom(&bare.address)
            .contains("<title>executed</title>")
    );
    // The page's own policy for what it contains is a second bolt.
    let page = reattempt::observe::stats_page(None).replace("</main>", script);
    assert!(page.contains(script));
    let broken = Site::serve(page);
    assert!(
        browser
            .dom(&broken.address)
            .contains("<title>Retries</title>")
    );
}

/// A server of one page on a free port.
struct Site {
    address: String,
    asked: Arc<Mutex<HashSet<String>>>,
}

impl Site {
    fn serve(page: String) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(HashSet::new()));
        let paths = Arc::clone(&asked);
        thread::spawn(move || {
            // A browser also opens connections that it does not use.
            for connection in listener.incoming().flatten() {
                let (page, paths) = (page.clone(), Arc::clone(&paths));
                thread::spawn(move || {
                    let mut lines = BufReader::new(&connection).lines();
                    let Some(Ok(request)) = lines.next() else {
                        return;
                    };
                    let path = request.split(' ').nth(1).unwrap_or_default();
                    paths.lock().unwrap().insert(path.to_owned());
                    while lines
                        .next()
                        .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
                    {
                    }
                    let head = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                        page.len()
                    );
                    let _ = (&connection).write_all(&[head.as_bytes(), page.as_bytes()].concat());
                });
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> HashSet<String> {
        self.asked.lock().unwrap().clone()
    }
}

struct Browser {
    program: PathBuf,
}

impl Browser {
    fn find() -> Option<Self> {
        let program = servers::installed("chromium", "chromium")?;
        Some(Self { program })
    }

    fn run(&self, arguments: &[&str], address: &str) -> String {
        let profile = servers::folder("chromium");
        let output = Command::new(&self.program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
            ])
            .args(["--no-first-run", "--disable-background-networking"])
            .args([
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(["--hide-scrollbars", "--timeout=30000"])
            .args(arguments)
            .arg(address)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let _ = fs::remove_dir_all(&profile);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The document after scripts had their turn.
    fn dom(&self, address: &str) -> String {
        self.run(&["--virtual-time-budget=2000", "--dump-dom"], address)
    }
}

/// What a reader sees: without tags, each run of white space as one.
fn text_of(dom: &str) -> String {
    let (_, body) = dom.split_once("<body>").unwrap();
    let body = body.replace("<wbr>", "");
    let mut text = String::new();
    for part in body.split('<') {
        // Chromium writes `>` of a text as `&gt;`.
        let after = part.split_once('>').map_or(part, |(_, after)| after);
        text.push_str(after);
        text.push(' ');
    }
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A screenshot, decoded.
struct Shot {
    pixels: HashSet<[u8; 3]>,
    colours: usize,
}

impl Shot {
    fn take(browser: &Browser, address: &str, name: &str, (width, height): (u32, u32)) -> Self {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("page-{name}.png"));
        let _ = fs::remove_file(&file);
        let screenshot = format!("--screenshot={}", file.display());
        let size = format!("--window-size={width},{height}");
        browser.run(&[&screenshot, &size], address);

        let decoder = png::Decoder::new(BufReader::new(File::open(&file).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut bytes).unwrap();
        assert_eq!((frame.width, frame.height), (width, height));
        let samples = frame.color_type.samples();
        assert!(samples >= 3, "{:?}", frame.color_type);
        let pixels: HashSet<_> = bytes[..frame.buffer_size()]
            .chunks_exact(samples)
            .map(|pixel| [pixel[0], pixel[1], pixel[2]])
            .collect();
        Self {
            colours: pixels.len(),
            pixels,
        }
    }

    fn has(&self, colour: [u8; 3]) -> bool {
        self.pixels.contains(&colour)
    }
}
