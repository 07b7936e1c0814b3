//! What `spawn_near!` says where it is used wrongly: each mistake is underlined, with a help that says what to write.

#[test]
fn mistakes_are_explained() {
    trybuild::TestCases::new().compile_fail("ui/spawn_near/*.rs");
}
