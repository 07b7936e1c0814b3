use super::*;

const HEADER: &str = "ncols 3\nnrows 2\nxllcorner 10\nyllcorner 20\ncellsize 5\nNODATA_value -1\n";

fn raster(values: &str) -> Result<Raster, ParseError> {
    parse(format!("{HEADER}{values}").as_bytes())
}

fn values(text: &str) -> Vec<f32> {
    parse(text.as_bytes()).unwrap().values
}

/// Parses `text` and compares the error's place, and what its message must say.
#[track_caller]
fn refused(text: &str, line: usize, column: usize, words: &str) {
    refused_bytes(text.as_bytes(), line, column, words);
}

#[track_caller]
fn refused_bytes(text: &[u8], line: usize, column: usize, words: &str) {
    let error = parse(text).expect_err("the text is refused");
    assert_eq!((error.line, error.column), (line, column), "{error}");
    let message = error.to_string();
    assert!(message.contains(words), "{message:?} says {words:?}");
    assert!(message.starts_with(&format!("line {line}, column {column}: ")), "{message}");
    assert!(!message.contains(|c: char| c.is_control()), "{message:?} is one line");
}

/// The header with one line replaced, and a grid that fits.
fn with_line(number: usize, replacement: &str) -> String {
    let mut lines: Vec<&str> = HEADER.lines().collect();
    lines[number - 1] = replacement;
    format!("{}\n1 2 3\n4 5 6\n", lines.join("\n"))
}

#[test]
fn a_plain_grid() {
    let read = raster("1 2 3\n4 5.5 -6e1\n").unwrap();
    let values = vec![1.0, 2.0, 3.0, 4.0, 5.5, -60.0];
    let expected = Raster { rows: 2, columns: 3, west: 10.0, south: 20.0, cell_size: 5.0, values };
    assert_eq!(read, expected);
}

#[test]
fn keys_in_any_order_and_case_and_centres() {
    let text = "CELLSIZE 5\nYLLCENTER 20\nXllCenter 10\n\nNROWS 1\nNcols 2\n7 8";
    let read = parse(text.as_bytes()).unwrap();
    assert_eq!((read.west, read.south), (7.5, 17.5));
    assert_eq!((read.rows, read.columns), (1, 2));
}

#[test]
fn white_space_does_not_matter() {
    let plain = raster("1 2 3\n4 5 6\n").unwrap();
    for text in ["1 2 3\r\n4 5 6\r\n", "\t1\t2  3 \n\n  4 5\t6", "1 2 3\n4 5 6\n\n\n"] {
        assert_eq!(raster(text).unwrap(), plain, "{text:?}");
    }
    let carriage_returns = format!("{HEADER}1 2 3\n4 5 6\n").replace('\n', "\r\n");
    assert_eq!(parse(carriage_returns.as_bytes()).unwrap(), plain);
    let marked = format!("\u{feff}{HEADER}1 2 3\n4 5 6\n");
    assert_eq!(parse(marked.as_bytes()).unwrap(), plain);
}

#[test]
fn rows_may_share_a_line_or_be_wrapped() {
    let plain = raster("1 2 3\n4 5 6\n").unwrap();
    for text in ["1 2 3 4 5 6", "1 2\n3\n4\n5 6", "1\n2\n3\n4 5 6\n"] {
        assert_eq!(raster(text).unwrap(), plain, "{text:?}");
    }
}

#[test]
fn missing_data() {
    let read = raster("1 -1 3\n-1.0 5 6").unwrap().values;
    let missing: Vec<bool> = read.iter().map(|value| value.is_nan()).collect();
    assert_eq!(missing, [false, true, false, true, false, false]);

    let header = "ncols 2\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize 1\n";
    assert!(values(&format!("{header}-9999 1"))[0].is_nan(), "the default is -9999");
    assert!(values(&format!("{header}nodata_value nan\nNaN 1"))[0].is_nan());
    assert!(values(&format!("{header}nodata_value -3.4e38\n-3.4e38 1"))[0].is_nan());
    refused(&format!("{HEADER}-1 -1 -1\n-1 -1 -1"), 8, 9, "nothing to compute");
}

#[test]
fn headers_that_are_refused() {
    refused("", 1, 1, "`ncols` and `nrows` and `xllcorner` and `yllcorner` and `cellsize`");
    refused("1 2 3", 1, 1, "without `ncols` and");
    refused(&with_line(2, ""), 7, 1, "without `nrows`: add a line");
    refused(&with_line(3, ""), 7, 1, "without `xllcorner`:");
    refused(&with_line(5, ""), 7, 1, "without `cellsize`:");
    refused(&with_line(6, " NCOLS 3"), 6, 2, "`ncols` is given a second time, first in line 1");
    refused(&with_line(6, "xllcenter 3"), 6, 1, "although `xllcorner` is, in line 3");
    refused(&with_line(4, "yllcenter 3"), 4, 11, "`yllcenter` does not go with `xllcorner`");
    refused(&with_line(3, "xllcorner"), 3, 10, "`xllcorner` has no value");
    refused(&with_line(3, "xllcorner 1 2"), 3, 13, "`2` after the value of `xllcorner`");
    refused(&with_line(3, "xcorner 1"), 3, 1, "`xcorner` is neither a header key nor a number");
    refused(&with_line(3, "xllcorner east"), 3, 11, "`east`, which is not a finite number");
    refused(&with_line(3, "xllcorner inf"), 3, 11, "`inf`, which is not a finite number");
    refused(&with_line(6, "NODATA_value none"), 6, 14, "`none`, which is not a finite number");
    for size in ["0", "-5", "nan", "inf", "1e-300", "1e300", "big"] {
        refused(&with_line(5, &format!("cellsize {size}")), 5, 10, "`cellsize` is `");
    }
    for count in ["0", "-3", "2.0", "3x", "nan", "134217729", "99999999999999999999999"] {
        refused(&with_line(1, &format!("ncols {count}")), 1, 7, "not a whole number from 1 to");
        refused(&with_line(2, &format!("nrows {count}")), 2, 7, "not a whole number from 1 to");
    }
}

#[test]
fn sizes_beyond_the_file_or_the_memory_are_refused() {
    let huge = with_line(1, "ncols 134217728").replace("nrows 2", "nrows 134217728");
    refused(&huge, 2, 7, "18014398509481984 cells, and at most 134217728");
    refused(&with_line(1, "ncols 60000000"), 2, 7, "120000000 values, more than a file of");
    let binary = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    refused_bytes(binary, 1, 1, "PNG` is neither a header key nor a number");
}

#[test]
fn values_that_are_refused() {
    let seventh = |values: &str| format!("{HEADER}{values}");
    refused(&seventh("1 2 x\n4 5 6"), 7, 5, "`x` is not a number");
    refused(&seventh("1 2 3\n4 5,5 6"), 8, 3, "decimals by a point");
    refused(&seventh("1 2 3\n4 nan 6"), 8, 3, "`nan` is not an elevation");
    refused(&seventh("1 2 3\n4 inf 6"), 8, 3, "`inf` is not an elevation");
    refused(&seventh("1 2 3\n4 5 -9e99"), 8, 5, "beyond any elevation");
    refused(&seventh("1 2 3\n4 ncols 6"), 8, 3, "`ncols` is not a number");
    let long = "9".repeat(1000) + "z";
    refused(&seventh(&format!("1 2 3\n4 5 {long}")), 8, 5, "`999999999999999999999999…` is not");
    refused_bytes(&[HEADER.as_bytes(), b"1 2 \xff\n4 5 6"].concat(), 7, 5, "is not a number");
}

#[test]
fn the_line_that_holds_too_few_or_too_many_values_is_named() {
    let seventh = |values: &str| format!("{HEADER}{values}");
    refused(&seventh("1 2\n3 4 5\n6"), 7, 4, "holds 2 values where `ncols` says 3");
    refused(&seventh("1 2 3 4\n5 6 7\n"), 7, 7, "holds 4 values where `ncols` says 3");
    refused(&seventh("1\n2\n3 4\n5 6"), 9, 3, "row 1 has its 3 values and the line goes on");
    refused(
        &seventh("1 2 3\n4 5\n\n"),
        8,
        4,
        "ends after 5 values, and `ncols` times `nrows` is 6",
    );
    refused(&seventh("1 2 3\n4 5 6 7\n"), 8, 7, "a value too much");
    refused(&seventh("1 2 3\n4 5 6\n7 8 9\n"), 9, 1, "a value too much");
    refused(HEADER, 7, 1, "ends after 0 values");
}

#[test]
fn the_file_of_the_repository() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/jacksboro.asc");
    let read = read(Path::new(path)).unwrap();
    assert_eq!((read.rows, read.columns), (344, 403));
    assert!(read.values.iter().all(|value| value.is_finite()));
    assert_eq!(read.values[0], 483.0);
    assert_eq!(read.values[402..404], [444.0, 475.0]);
}
