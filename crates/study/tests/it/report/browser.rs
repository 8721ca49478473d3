//! How Chromium sees the report: no console message, every SVG file parses, and within each figure
//! no text lies over another or is cut off, measured by the browser's own boxes
//! (`getBoundingClientRect`), in a wide and a narrow window.

use super::build::{Shape, names, study, with_views};
use super::edges;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use stiefel_study::report;

/// Measures and writes what it finds, as JSON, where `--dump-dom` shows it.
const SCRIPT: &str = r#"
window.addEventListener("load", () => {
  const faults = [];
  document.querySelectorAll("main").forEach((page) => {
    const study = page.dataset.study;
    page.querySelectorAll("svg.figure").forEach((svg) => {
      const figure = study + ": " + svg.getAttribute("aria-label").slice(0, 60);
      const frame = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll("text")].map((t) => [t.textContent, t.getBoundingClientRect()]);
      texts.forEach(([a, p], i) => {
        if (p.left < frame.left - 1 || p.right > frame.right + 1 || p.top < frame.top - 1 || p.bottom > frame.bottom + 1)
          faults.push(figure + ": cut off: " + a);
        for (const [b, q] of texts.slice(i + 1)) {
          const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
          const up = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
          // Boxes are taller than letters.
          if (across > 0.5 && up > 2.5) faults.push(figure + ": " + a + " over " + b);
        }
      });
    });
  });
  for (const [name, text] of SVGS) {
    const root = new DOMParser().parseFromString(text, "image/svg+xml");
    if (root.querySelector("parsererror") || root.documentElement.localName !== "svg") faults.push(name + ": not XML");
  }
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 1) faults.push("the page is " + wide + " px too wide");
  const texts = document.querySelectorAll("svg text").length;
  const width = window.innerWidth;
  top.document.body.textContent = "CHECKED" + encodeURIComponent(JSON.stringify({ faults, texts, width })) + "CHECKED";
});
"#;

fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|p| p.join("chromium"))
        .find(|p| p.is_file())
}

/// What the script found, and what the console said.
fn look(browser: &Path, folder: &Path, page: &Path, width: usize) -> (Value, Vec<String>) {
    let options = [
        format!("--window-size={width},900"),
        "--dump-dom".to_owned(),
    ];
    let (dom, log) = run(browser, folder, page, &options);
    let found = dom
        .split("CHECKED")
        .nth(1)
        .unwrap_or_else(|| panic!("no answer from the page; Chromium said: {log}"));
    let console = log
        .lines()
        .filter(|l| l.contains("CONSOLE"))
        .map(String::from);
    (decode(found), console.collect())
}

/// What Chromium wrote, and what it logged.
fn run(browser: &Path, folder: &Path, page: &Path, options: &[String]) -> (String, String) {
    let (out, err) = (folder.join("out"), folder.join("err"));
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-dev-shm-usage",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            "--v=0",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .stdout(Stdio::from(std::fs::File::create(&out).unwrap()))
        .stderr(Stdio::from(std::fs::File::create(&err).unwrap()))
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("Chromium did not finish in two minutes");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let dom = std::fs::read_to_string(&out).unwrap();
    let log = String::from_utf8_lossy(&std::fs::read(&err).unwrap()).into_owned();
    (dom, log)
}

/// Percent-encoded JSON.
fn decode(text: &str) -> Value {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%' {
            let code = std::str::from_utf8(&after[..2]).unwrap();
            bytes.push(u8::from_str_radix(code, 16).unwrap());
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    serde_json::from_slice(&bytes).unwrap()
}

/// All edge cases on one page, so that the browser starts once per window.
fn page_of_all() -> String {
    let mut page = String::new();
    let mut files: Vec<Value> = Vec::new();
    for (what, summary) in edges() {
        let html = report::html(&summary).unwrap();
        let (head, body) = html.split_once("<main>").unwrap();
        let (body, _) = body.split_once("</main>").unwrap();
        if page.is_empty() {
            page.push_str(head);
        }
        let _ = write!(page, "<main data-study=\"{what}\">{body}</main>");
        let svgs = report::figures(&summary).into_iter();
        files.extend(svgs.map(|(name, svg)| json!([format!("{what}: {name}"), svg])));
    }
    let files = Value::from(files)
        .to_string()
        .replace("</", "<\\/")
        .replace("<!--", "<\\!--");
    format!("{page}<script>const SVGS = {files};{SCRIPT}</script></body></html>")
}

#[test]
fn chromium_finds_no_fault() {
    let Some(browser) = chromium() else {
        eprintln!("skipped: no `chromium` in PATH");
        return;
    };
    let folder = std::env::temp_dir().join(format!("stiefel-browser-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let page = folder.join("all.html");
    let all = page_of_all().replace('&', "&amp;").replace('"', "&quot;");
    for width in [1200, 420] {
        // Windows have a least width, frames have none.
        let frame = format!(
            "<iframe style=\"border:0;width:{width}px;height:900px\" srcdoc=\"{all}\"></iframe>"
        );
        std::fs::write(
            &page,
            format!("<!doctype html><html><body>{frame}</body></html>"),
        )
        .unwrap();
        let (found, console) = look(&browser, &folder, &page, width);
        assert!(console.is_empty(), "{width} px: {console:#?}");
        assert_eq!(found["width"], json!(width));
        assert_eq!(found["faults"], json!([]), "{width} px: {found:#}");
        assert!(
            found["texts"].as_u64().unwrap() > 1000,
            "the figures were there: {found:#}"
        );
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_browser_sees_faults() {
    let Some(browser) = chromium() else {
        eprintln!("skipped: no `chromium` in PATH");
        return;
    };
    let folder =
        std::env::temp_dir().join(format!("stiefel-browser-faults-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let page = folder.join("faults.html");
    let svg = "<svg class=\"figure\" aria-label=\"f\" width=\"100\" height=\"40\"><text x=\"5\" \
               y=\"20\">one</text><text x=\"8\" y=\"21\">two</text><text x=\"90\" y=\"36\">far \
               out</text></svg>";
    let script =
        format!("const SVGS = [[\"x\", \"<svg><p></svg>\"]];console.error(\"seen\");{SCRIPT}")
            .replace("</svg>", "<\\/svg>");
    std::fs::write(
        &page,
        format!(
            "<!doctype html><html><body><main \
             data-study=\"s\">{svg}</main><script>{script}</script></body></html>"
        ),
    )
    .unwrap();
    let (found, console) = look(&browser, &folder, &page, 800);
    let faults = found["faults"].to_string();
    for part in ["one over two", "cut off: far out", "x: not XML"] {
        assert!(faults.contains(part), "{part}: {faults}");
    }
    assert_eq!(console.len(), 1, "{console:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Clicks on heads of the table of results and tells the names of its rows each time.
const CLICKS: &str = r#"
window.addEventListener("load", () => {
  const table = document.querySelector("[aria-label=Results] table");
  const rows = () => [...table.tBodies[0].rows].map((r) => r.cells[0].firstChild.textContent);
  const found = [rows()];
  const click = (column) => { table.tHead.rows[0].cells[column].querySelector("button").click(); found.push(rows()); };
  click(1); click(1); click(0);
  document.body.textContent = "CHECKED" + encodeURIComponent(JSON.stringify(found)) + "CHECKED";
});
"#;

#[test]
fn a_click_sorts_the_table_and_keeps_the_paper_with_its_method() {
    let Some(browser) = chromium() else {
        eprintln!("skipped: no `chromium` in PATH");
        return;
    };
    let folder = std::env::temp_dir().join(format!("stiefel-browser-sort-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut summary = study(&Shape {
        methods: ["baseline", "DASP", "mdm"]
            .map(|m| (m.to_owned(), false))
            .to_vec(),
        ..Shape::default()
    });
    for (row, mean) in summary.rows.iter_mut().zip([0.6, 0.8, 0.7]) {
        row.accuracy.mean = mean;
    }
    let page = folder.join("sort.html");
    let html = report::html(&summary)
        .unwrap()
        .replace("</body>", &format!("<script>{CLICKS}</script></body>"));
    std::fs::write(&page, html).unwrap();
    let (found, console) = look(&browser, &folder, &page, 1200);
    assert!(console.is_empty(), "{console:#?}");
    assert_eq!(
        found,
        json!([
            ["baseline", "DASP", "in the paper", "mdm"],
            ["DASP", "in the paper", "mdm", "baseline"],
            ["baseline", "mdm", "DASP", "in the paper"],
            ["baseline", "DASP", "in the paper", "mdm"],
        ])
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn on_paper_a_study_of_ten_methods_takes_six_pages_at_most() {
    let Some(browser) = chromium() else {
        eprintln!("skipped: no `chromium` in PATH");
        return;
    };
    let folder = std::env::temp_dir().join(format!("stiefel-browser-print-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let routed = |i: usize| (format!("method-{i}"), (1..4).contains(&i));
    for people in [6, 53, 200] {
        let shape = Shape {
            methods: (0..10).map(routed).collect(),
            domains: names("S", people),
            folds: 5,
            experts: 8,
            ..Shape::default()
        };
        let mut summary = with_views(study(&shape));
        // As much text as studies have.
        summary.verdict =
            vec!["A sentence of a verdict on a method, with its figures. ".repeat(4); 8];
        summary.methods = "A sentence of the methods paragraph. ".repeat(35);
        for row in &mut summary.rows {
            row.about =
                Some("a line of what the method is, which takes two lines of the table".into());
        }
        let (page, pdf) = (folder.join("print.html"), folder.join("print.pdf"));
        std::fs::write(&page, report::html(&summary).unwrap()).unwrap();
        let option = format!("--print-to-pdf={}", pdf.display());
        let (_, log) = run(
            &browser,
            &folder,
            &page,
            &[option, "--no-pdf-header-footer".to_owned()],
        );
        let text = std::fs::read(&pdf).unwrap_or_else(|e| panic!("{e}; Chromium said: {log}"));
        let text = String::from_utf8_lossy(&text);
        let pages = text.matches("/Type /Page\n").count();
        assert!((2..=6).contains(&pages), "{people} people: {pages} pages");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
