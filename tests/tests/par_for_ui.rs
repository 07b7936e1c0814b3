//! Mistakes in marked loops, and what the compiler says to them.

#[test]
fn every_mistake_is_answered() {
    trybuild::TestCases::new().compile_fail("ui/par_for/*.rs");
}

/// The catalogue in `docs/errors.md` and the cases go together.
#[test]
fn every_case_is_in_the_catalogue() {
    let root = env!("CARGO_MANIFEST_DIR");
    let page =
        std::fs::read_to_string(format!("{root}/../docs/errors.md")).expect("docs/errors.md");
    let folder = std::fs::read_dir(format!("{root}/ui/par_for")).expect("ui/par_for");
    let names =
        folder.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    let cases: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".rs")?.to_owned())).collect();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    for case in &cases {
        assert!(page.contains(&format!("[{case}]")), "`{case}` is missing in docs/errors.md");
    }
    for linked in page.split("../tests/ui/par_for/").skip(1) {
        if let Some((case, _)) = linked.split_once(".stderr") {
            assert!(
                cases.iter().any(|known| known == case),
                "docs/errors.md names `{case}`, which is not there"
            );
        }
    }
}
