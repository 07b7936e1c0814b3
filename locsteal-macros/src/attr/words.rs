//! What users wrote, in the words of messages.

use quote::ToTokens;

/// `a`, `b` and `c`
pub(super) fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

/// The tokens as the user would write them.
pub(crate) fn tokens(of: &impl ToTokens) -> String {
    let text = of.to_token_stream().to_string();
    let mut tidy =
        text.replace(" . ", ".").replace(" (", "(").replace("( ", "(").replace(" )", ")");
    for (spaced, tight) in [
        (" [", "["),
        ("[ ", "["),
        (" ]", "]"),
        ("& ", "&"),
        (" ,", ","),
        (" ;", ";"),
        (" ::", "::"),
        (":: ", "::"),
        (" ?", "?"),
        (" ..", ".."),
        (".. ", ".."),
        ("* ", "*"),
        (" !", "!"),
    ] {
        // `*` and `&` are also operators between two operands, which keep their spaces.
        if matches!(spaced, "& " | "* ") {
            if tidy.starts_with(spaced) {
                tidy = format!("{tight}{}", &tidy[spaced.len()..]);
            }
            tidy = tidy.replace(&format!("({spaced}"), &format!("({tight}"));
            continue;
        }
        tidy = tidy.replace(spaced, tight);
    }
    tidy
}
