//! Mistakes, and what the compiler says to them.

#[test]
fn every_mistake_is_answered() {
    trybuild::TestCases::new().compile_fail("ui/par_for/*.rs");
}
