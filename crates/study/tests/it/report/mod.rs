//! The report: what it says, that it stays whole with hostile names and missing values, and how a
//! browser sees it.

mod browser;
mod build;
mod markup;

use build::{Shape, names, study, with_views};
use markup::check;
use proptest::prelude::*;
use stiefel_model::Measure;
use stiefel_model::precondition::Adaptation;
use stiefel_study::{StudySummary, report};

/// Studies at the edges, by name.
fn edges() -> Vec<(&'static str, StudySummary)> {
    let hostile = "<script>alert(1)</script> \"quoted\" 'single' & \u{0}\u{202e}\n]]> --> &amp; \
                   </svg></style>";
    let long = "a very long name ".repeat(20);
    let shape = Shape::default();
    let methods = |names: &[(&str, bool)]| names.iter().map(|n| (n.0.to_owned(), n.1)).collect();
    let mut empty = study(&shape);
    empty.rows.clear();
    empty.units.clear();
    empty.comparisons.clear();
    empty.paper.clear();
    empty.verdict.clear();
    let mut untested = study(&shape);
    untested.comparisons.clear();
    vec![
        ("usual", study(&shape)),
        ("hostile", hostile_study(hostile)),
        ("long", hostile_study(&long)),
        ("wide", hostile_study(&"脳波デコーダ".repeat(12))),
        (
            "60 domains, 16 experts",
            study(&Shape {
                domains: names("subject ", 60),
                experts: 16,
                ..shape.clone()
            }),
        ),
        (
            "200 people",
            study(&Shape {
                domains: names("subject ", 200),
                ..shape.clone()
            }),
        ),
        (
            "1 domain, 1 expert",
            study(&Shape {
                domains: names("S", 1),
                experts: 1,
                folds: 1,
                seeds: vec![0],
                ..shape.clone()
            }),
        ),
        (
            "53 folds",
            study(&Shape {
                folds: 53,
                domains: names("S", 6),
                ..shape.clone()
            }),
        ),
        (
            "no routing",
            study(&Shape {
                methods: methods(&[("baseline", false), ("mdm", false)]),
                ..shape.clone()
            }),
        ),
        (
            "names alike",
            study(&Shape {
                methods: methods(&[("a b", true), ("a-b", true), ("A?B", true)]),
                ..shape.clone()
            }),
        ),
        (
            "no places",
            study(&Shape {
                channels: names("", 7),
                ..shape.clone()
            }),
        ),
        (
            "one class",
            study(&Shape {
                classes: names("class ", 1),
                ..shape.clone()
            }),
        ),
        (
            "nine classes",
            study(&Shape {
                classes: names("a class with a name ", 9),
                ..shape.clone()
            }),
        ),
        (
            "constant",
            study(&Shape {
                numbers: vec![0.0],
                ..shape.clone()
            }),
        ),
        (
            "huge",
            study(&Shape {
                numbers: vec![1e300, -1e300, 1e-300, 0.5],
                ..shape.clone()
            }),
        ),
        (
            "not numbers",
            study(&Shape {
                numbers: vec![f64::NAN, 0.5, f64::INFINITY, 0.7, f64::NEG_INFINITY],
                ..shape
            }),
        ),
        ("empty", empty),
        ("untested", untested),
    ]
}

/// Every string of the study is `name`.
fn hostile_study(name: &str) -> StudySummary {
    let numbered = |count| {
        (0..count)
            .map(|i| format!("{name} {i}"))
            .collect::<Vec<_>>()
    };
    let mut s = study(&Shape {
        methods: vec![(format!("{name} 0"), false), (format!("{name} 1"), true)],
        domains: numbered(4),
        classes: numbered(2),
        channels: [numbered(2), ["Fz", "Cz", "Pz"].map(String::from).to_vec()].concat(),
        ..Shape::default()
    });
    for text in [
        &mut s.study,
        &mut s.protocol,
        &mut s.code,
        &mut s.methods,
        &mut s.dataset.name,
        &mut s.dataset.fingerprint,
    ] {
        name.clone_into(text);
    }
    for text in [
        &mut s.dataset.preparation,
        &mut s.dataset.licence,
        &mut s.dataset.citation,
    ] {
        *text = Some(name.to_owned());
    }
    s.verdict = vec![name.to_owned()];
    if let Some(headline) = &mut s.headline {
        name.clone_into(&mut headline.sentence);
    }
    if let Some(made) = &mut s.made {
        made.processor = Some(name.to_owned());
    }
    s.settings = serde_json::json!({ name: name });
    name.clone_into(&mut s.paper[0].method);
    for unit in &mut s.units {
        unit.held_out = Some(name.to_owned());
        unit.outcome.notes = vec![name.to_owned()];
        unit.settings = serde_json::json!([name]);
        for epoch in &mut unit.outcome.history {
            name.clone_into(&mut epoch.losses[0].0);
        }
    }
    for row in &mut s.rows {
        row.controls = row
            .controls
            .iter()
            .map(|c| (name.to_owned(), c.1))
            .collect();
    }
    s
}

#[test]
fn every_edge_is_whole() {
    for (what, summary) in edges() {
        let page = report::html(&summary).unwrap();
        check(&page).unwrap_or_else(|e| panic!("{what}, page: {e}"));
        assert_eq!(page.matches("<script").count(), 1, "{what}: ours alone");
        let figures = report::figures(&summary);
        for (name, svg) in &figures {
            check(svg).unwrap_or_else(|e| panic!("{what}, {name}: {e}"));
            assert!(
                svg.contains("role=\"img\" aria-label=\"") && svg.contains("<desc>"),
                "{what}, {name}"
            );
        }
        let mut files: Vec<&String> = figures.iter().map(|f| &f.0).collect();
        files.sort();
        files.dedup();
        assert_eq!(files.len(), figures.len(), "{what}: file names");
        assert_eq!(
            page.matches("<svg ").count(),
            figures.len(),
            "{what}: page and files have the same figures"
        );
    }
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    for (what, summary) in edges() {
        let page = report::html(&summary).unwrap();
        for attribute in ["src=\"", "href=\"", "url(", "@import", "srcset"] {
            for (at, _) in page.match_indices(attribute) {
                let target = &page[at + attribute.len()..];
                assert!(
                    target.starts_with('#') || target.starts_with("data:"),
                    "{what}: {}",
                    &page[at..at + 60]
                );
            }
        }
        assert!(
            !page.contains("http://") && !page.contains("https://"),
            "{what}"
        );
    }
}

#[test]
fn the_page_says_what_it_must() {
    let summary = study(&Shape::default());
    let page = report::html(&summary).unwrap();
    for words in [
        "<tr class=\"theirs\"><th scope=\"row\">in the paper</th><td data-v=\"0.823\">0.823 ± \
         0.011</td>",
        "<td data-v=\"0.029\">+0.029</td><td data-v=\"4\">4/5</td><td data-v=\"0.674\">0.674</td>",
        "<p class=\"result\">DASP is better than baseline.</p>",
        "DASP minus baseline, person by person",
        "<dt>Summary made</dt><dd>2026-03-01 14:05 UTC</dd>",
        "A processor, 2 threads, linux x86_64, instruction set avx2",
        "<small>what DASP is</small>",
        "<small>to the baseline</small>",
        "<details class=\"long\"><summary>Every setting of the study",
        "Routing is not what helps here.",
        "Yes: whitening used unlabelled trials of the domains that were tested.",
        "own-mean (κ = 10)",
        "8 trials (S1 2, S2 2, S3 2, S4 2), by amplitude",
        "Rejection read no labels",
        "Covariances were whitened.",
        "<dt>Seeds</dt><dd>7, 8</dd>",
        "MIT or Apache-2.0",
        "CC BY 4.0",
        "fold 0, seed 7",
        "C was chosen on validation. (6 units)",
        "Routing on the Stiefel Manifold",
        "prefers-color-scheme:dark",
        "@media print",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn the_first_sentence_and_its_picture_come_first() {
    let page = report::html(&study(&Shape::default())).unwrap();
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words}"));
    assert!(
        at("class=\"result\"") < at("<svg "),
        "sentence, then picture"
    );
    assert!(at("<svg ") < at("Verdict") && at("Verdict") < at("<h2>Table"));
    // Sorted from the largest difference to the smallest.
    let summary = study(&Shape::default());
    let (_, svg) = report::figures(&summary).swap_remove(0);
    let shown = |subject: &str| svg.find(&format!("<title>{subject}: ")).unwrap();
    let mut people = summary.comparisons[0].people.clone();
    people.sort_by(|a, b| b.difference.total_cmp(&a.difference));
    let places: Vec<usize> = people.iter().map(|p| shown(&p.subject)).collect();
    assert!(places.is_sorted(), "{places:?}");
    // Without a comparison there is no picture, and the verdict speaks.
    let mut summary = summary;
    summary.headline = None;
    let page = report::html(&summary).unwrap();
    assert!(page.contains("<p class=\"result\">Routing is not what helps here.</p>"));
    assert!(!page.contains("person by person"));
}

/// A table of the page, as the fields of its rows, without those of the paper.
fn fields(page: &str, label: &str) -> Vec<Vec<String>> {
    let table = page
        .split(&format!("aria-label=\"{label}\""))
        .nth(1)
        .unwrap();
    let body = table.split("<tbody>").nth(1).unwrap();
    let body = body.split("</tbody>").next().unwrap();
    let text = |cell: &str| {
        let cell = cell.split_once('>').unwrap().1;
        let cell = cell.split("<small>").next().unwrap();
        cell.split("</").next().unwrap().to_owned()
    };
    let row = |row: &str| {
        row.split("<t")
            .filter(|c| c.starts_with(['d', 'h']))
            .map(text)
            .collect()
    };
    body.split("</tr>")
        .filter(|r| r.contains("<t"))
        .map(row)
        .collect()
}

/// Fields of a CSV text without quotes.
fn lines(csv: &str) -> Vec<Vec<String>> {
    let line = |line: &str| line.split(',').map(String::from).collect();
    csv.lines().map(line).collect()
}

#[test]
fn saved_tables_are_those_of_the_page() {
    let summary = study(&Shape::default());
    let page = report::html(&summary).unwrap();
    let files: std::collections::BTreeMap<_, _> = report::tables(&summary).into_iter().collect();
    let round = |text: &str, digits: usize| match text.parse::<f64>() {
        Ok(x) => format!("{x:.digits$}").replace('-', "−"),
        Err(_) => "–".into(),
    };
    // The page holds the same text that is written as a file.
    for (name, text) in &files {
        let encoded: String = text
            .bytes()
            .map(|b| match b {
                b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'.' | b'_' | b'~' => {
                    char::from(b).to_string()
                }
                _ => format!("%{b:02X}"),
            })
            .collect();
        let link = format!("download=\"{name}\" href=\"data:text/csv;charset=utf-8,{encoded}\"");
        assert!(page.contains(&link), "{name}");
    }
    let (csv, shown) = (lines(&files["results.csv"]), fields(&page, "Results"));
    assert_eq!(
        csv.len(),
        shown.len() + 1,
        "a line of names, a line per row"
    );
    let column = |name: &str| csv[0].iter().position(|n| n == name).unwrap();
    for (line, row) in csv[1..].iter().zip(&shown) {
        let [mean, std] =
            ["balanced_accuracy", "balanced_accuracy_std"].map(|n| round(&line[column(n)], 3));
        assert_eq!(row[1], format!("{mean} ± {std}"));
        if line[column("source")] == "here" {
            assert_eq!(row[0], line[0]);
            let folds = format!(
                "{}/{}",
                line[column("folds_won")],
                line[column("folds_compared")]
            );
            assert_eq!(row[2], folds);
            let auc = ["roc_auc", "roc_auc_std"].map(|n| round(&line[column(n)], 3));
            assert_eq!(row[4], auc.join(" ± "));
        }
    }
    let (csv, shown) = (lines(&files["subjects.csv"]), fields(&page, "Subjects"));
    assert_eq!(csv.len(), shown.len() + 1);
    for (line, row) in csv[1..].iter().zip(&shown) {
        let rounded: Vec<String> = line[1..].iter().map(|x| round(x, 3)).collect();
        assert_eq!((&row[0], &row[1..]), (&line[0], &rounded[..]));
    }
    let (csv, shown) = (lines(&files["tests.csv"]), fields(&page, "Tests"));
    for (line, row) in csv[1..].iter().zip(&shown) {
        assert_eq!(row[..3], line[..3]);
        assert_eq!(row[3], format!("+{}", round(&line[3], 3)));
        let sign = |x: &str| format!("{:+.3}", x.parse::<f64>().unwrap()).replace('-', "−");
        assert_eq!(row[4], format!("{} to {}", sign(&line[4]), sign(&line[5])));
    }
}

#[test]
fn columns_without_a_figure_are_left_out() {
    let mut summary = study(&Shape {
        methods: vec![("baseline".into(), false), ("mdm".into(), false)],
        ..Shape::default()
    });
    summary.paper.clear();
    let page = report::html(&summary).unwrap();
    assert!(
        !page.contains("<span>Δ_K1</span>") && !page.contains("<span>r_d"),
        "nothing routes"
    );
    assert!(!page.contains("id=\"routing\"") && page.contains("<span>κ</span>"));
}

#[test]
fn class_names_of_a_confusion_matrix_are_whole() {
    for classes in [
        vec!["left_hand_imagery", "both_feet_imagery"],
        vec!["a rather long class name"; 6],
    ] {
        let classes: Vec<String> = classes
            .into_iter()
            .enumerate()
            .map(|(i, c)| format!("{c}{i}"))
            .collect();
        let shape = Shape {
            classes: classes.clone(),
            ..Shape::default()
        };
        let figures = report::figures(&study(&shape));
        let (_, svg) = figures
            .iter()
            .find(|f| f.0 == "confusion-dasp.svg")
            .unwrap();
        for class in &classes {
            // Once for the row and once for the column.
            assert_eq!(
                svg.matches(&format!(">{class}</text>")).count(),
                2,
                "{class}"
            );
        }
    }
}

#[test]
fn two_hundred_people_have_a_place_each() {
    for people in [1, 5, 12, 13, 16, 17, 53, 200] {
        let summary = study(&Shape {
            domains: names("S", people),
            ..Shape::default()
        });
        let figures = report::figures(&summary);
        let drawn = |name: &str| &figures.iter().find(|f| f.0 == name).unwrap().1;
        for name in names("S", people) {
            assert_eq!(
                drawn("differences.svg")
                    .matches(&format!("<title>{name}: "))
                    .count(),
                1
            );
            let both = [
                format!("<title>baseline, {name}: "),
                format!("<title>DASP, {name}: "),
            ];
            assert!(
                both.iter().all(|t| drawn("subjects.svg").contains(t)),
                "{name} of {people}"
            );
        }
        let height = drawn("differences.svg").split("height=\"").nth(1).unwrap();
        let height: f64 = height.split('"').next().unwrap().parse().unwrap();
        assert!(
            height < 400.0,
            "{people} people: the picture is above the fold, {height}"
        );
    }
}

#[test]
fn maps_of_many_people_are_folded_away() {
    for (people, folded) in [(6, false), (16, false), (17, true), (200, true)] {
        let summary = with_views(study(&Shape {
            domains: names("S", people),
            ..Shape::default()
        }));
        let page = report::html(&summary).unwrap();
        let heads = page.split("<section id=\"heads\">").nth(1).unwrap();
        let heads = heads.split("</section>").next().unwrap();
        let (open, closed) = heads.split_once("<details").unwrap_or((heads, ""));
        assert!(open.contains("what everybody&#39;s weights look at"));
        for title in [
            "which views carry the decision",
            "what each person&#39;s weights look at",
        ] {
            assert_eq!(open.contains(title), !folded, "{people}: {title}");
            assert_eq!(closed.contains(title), folded, "{people}: {title}");
        }
        // Names of electrodes stand on the paper, whatever its colour.
        let electrodes = open.rsplit("The electrodes").next().unwrap();
        assert!(electrodes.contains("class=\"ink small on-paper\""));
    }
}

#[test]
fn the_protocol_is_a_sentence() {
    let page = report::html(&study(&Shape::default())).unwrap();
    assert!(page.contains("<p class=\"note\">5 folds.</p>"));
    assert!(page.contains("<dt>Split</dt><dd>5 folds.</dd>"));
}

#[test]
fn target_data_is_answered_from_what_was_used() {
    let mut summary = study(&Shape::default());
    // The setting alone uses nothing.
    let used = |names: &[&str], policy| {
        let names = names.iter().map(|n| (*n).to_owned()).collect();
        Some(stiefel_study::NewDomains { names, policy })
    };
    let own = Adaptation::OwnMean { kappa: 10.0 };
    for unit in &mut summary.units {
        unit.outcome.new_domains = used(&[], Some(own));
    }
    assert!(
        report::html(&summary)
            .unwrap()
            .contains("<dd>No: every domain that was whitened had training")
    );
    // Without whitening a new domain needs no policy.
    summary.units[0].outcome.new_domains = used(&["S1"], None);
    assert!(
        report::html(&summary)
            .unwrap()
            .contains("<dd>No: every domain that was whitened had training")
    );
    summary.units[0].outcome.new_domains = used(&["S1"], Some(Adaptation::Pooled));
    assert!(
        report::html(&summary)
            .unwrap()
            .contains("<dd>No. Whitening of domains without training trials: pooled")
    );
    summary.units[1].outcome.new_domains = None;
    assert!(
        report::html(&summary)
            .unwrap()
            .contains("<dd>Not known: the records of the units")
    );
    let causal = Adaptation::Causal { kappa: 3.0 };
    summary.units[0].outcome.new_domains = used(&["S1"], Some(causal));
    let page = report::html(&summary).unwrap();
    assert!(
        page.contains("<dd>Yes: whitening used")
            && page.contains("causal (κ = 3)")
            && page.contains("(baseline)")
    );
}

#[test]
fn the_shown_unit_is_the_first_fold_of_the_first_seed() {
    let mut summary = study(&Shape {
        seeds: vec![9, 3],
        ..Shape::default()
    });
    assert!(
        report::html(&summary)
            .unwrap()
            .contains("Mean over each domain&#39;s test trials; fold 0, seed 9.")
    );
    // Where it is missing, the next one is shown and named.
    let gone = |u: &stiefel_study::UnitRecord| u.method == "DASP" && u.fold == 0 && u.seed == 9;
    summary.units.retain(|u| !gone(u));
    assert!(
        report::html(&summary)
            .unwrap()
            .contains("Mean over each domain&#39;s test trials; fold 0, seed 3.")
    );
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let page = report::html(&study(&Shape {
        channels: names("", 7),
        ..Shape::default()
    }))
    .unwrap();
    assert!(page.contains(
        "no scalp maps, because they need at least 3 electrodes. Left out, because their place on \
         the head is not known: 1, 2, 3, 4, 5, 6, 7 (7 of 7 channels)"
    ));
    let mut summary = study(&Shape::default());
    for unit in &mut summary.units {
        for filter in &mut unit.outcome.patterns {
            filter.patterns = vec![vec![1.0; 3]];
        }
        if let Some(routing) = &mut unit.outcome.routing {
            routing.domain_weights[1].clear();
            routing.angles.pop();
            routing.report.proxy_gap = Measure::undefined("one expert");
            routing.report.controls = None;
        }
    }
    summary.rows[0].confusion.pop();
    let page = report::html(&summary).unwrap();
    check(&page).unwrap();
    assert!(
        page.contains("no scalp maps, because a pattern has 3 values and the dataset 5 channels.")
    );
    assert!(page.contains("Empty rows: the domain has no test trials in this fold."));
    assert!(!page.contains("angles between experts") && !page.contains("<h4>baseline</h4>"));
    summary.dataset.domains.truncate(2);
    let page = report::html(&summary).unwrap();
    check(&page).unwrap();
    assert!(
        page.contains("domain 3"),
        "a domain without a name is numbered"
    );
}

#[test]
fn files_are_written_and_replaced_whole() {
    let folder = std::env::temp_dir().join(format!("stiefel-report-{}", std::process::id()));
    let summary = study(&Shape::default());
    for _ in 0..2 {
        let page = report::write(&summary, folder.join("a/b")).unwrap();
        assert_eq!(
            std::fs::read_to_string(&page).unwrap(),
            report::html(&summary).unwrap()
        );
    }
    for (name, text) in report::tables(&summary) {
        let file = std::fs::read_to_string(folder.join("a/b").join(name)).unwrap();
        assert_eq!(file, text);
    }
    let mut found: Vec<String> = std::fs::read_dir(folder.join("a/b/figures"))
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut expected: Vec<String> = report::figures(&summary).into_iter().map(|f| f.0).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "no temporary file is left");
    // A file where a folder should be.
    std::fs::write(folder.join("file"), "x").unwrap();
    let error = report::write(&summary, folder.join("file")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains(&folder.join("file").display().to_string())
            && error.to_string().contains("may the folder be written"),
        "{error}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_numbers_and_names_make_a_whole_report(
        numbers in prop::collection::vec(prop::num::f64::ANY, 1..30),
        method in any::<String>(),
        domains in prop::collection::vec(any::<String>(), 0..5),
        experts in 0usize..5,
        folds in 0usize..4,
    ) {
        let shape = Shape { methods: vec![(method, true)], domains, experts, folds, numbers, ..Shape::default() };
        let summary = study(&shape);
        prop_assert_eq!(check(&report::html(&summary).unwrap()), Ok(()));
        for (name, svg) in report::figures(&summary) {
            prop_assert_eq!(check(&svg), Ok(()), "{}", name);
        }
    }
}
