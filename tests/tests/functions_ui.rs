//! What the compiler says about loops without macros that cannot be right.

#[test]
fn every_mistake_is_answered() {
    trybuild::TestCases::new().compile_fail("ui/functions/*.rs");
}
