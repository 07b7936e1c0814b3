//! Runs the example programs as a user does, on small inputs: each checks its own results and says so with its exit
//! code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs a program in the repository's root, where the programs expect to be started.
fn run(program: &str, arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package has a parent");
    Command::new(program).args(arguments).current_dir(root).output().expect("the program starts")
}

#[track_caller]
fn succeeds(program: &str, arguments: &[&str], words: &str) -> String {
    let output = run(program, arguments);
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{program} {arguments:?}: {err}");
    assert_eq!(err, "", "{program} {arguments:?}");
    assert!(out.contains(words), "{out}");
    out
}

/// Runs a program that must print one line of error and nothing else.
#[track_caller]
fn fails(program: &str, arguments: &[&str], code: i32) -> String {
    let output = run(program, arguments);
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(code), "{err}");
    assert_eq!(out, "");
    assert!(err.starts_with("error: "), "{err}");
    if code == 1 {
        assert_eq!(err.trim_end().lines().count(), 1, "{err}");
    }
    err
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("programs print text");
    (text(&output.stdout), text(&output.stderr))
}

/// An empty folder of the test's own.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
        _ => fs::create_dir_all(&folder).expect("a folder for the test"),
    }
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

const TERRAIN: &str = env!("CARGO_BIN_EXE_terrain");

/// A picture's width, height, and bytes: grey and alpha of each pixel.
fn picture(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::io::BufReader::new(fs::File::open(path).expect("the picture is there"));
    let mut reader = png::Decoder::new(file).read_info().expect("the picture is a PNG file");
    let mut bytes = vec![0; reader.output_buffer_size().expect("the picture is small")];
    let info = reader.next_frame(&mut bytes).expect("the picture is whole");
    assert_eq!(info.color_type, png::ColorType::GrayscaleAlpha);
    let shape = reader.info().pixel_dims.expect("the picture tells the shape of its pixels");
    assert_eq!(shape.xppu, shape.yppu, "the cells are square");
    (info.width, info.height, bytes)
}

#[test]
fn terrain_draws_a_grid() {
    let folder = folder("terrain_draws_a_grid");
    let input = folder.join("hill.asc");
    // A hill whose north-west side is lit, and a gap in the last row.
    let mut grid = "ncols 9\nnrows 7\nxllcorner 1e5\nyllcorner 1e5\ncellsize 10\n".to_owned();
    for row in 0..7_i32 {
        for column in 0..9_i32 {
            let height = if (row, column) == (6, 4) {
                -9999
            } else {
                100 - 10 * ((row - 3).abs() + (column - 4).abs())
            };
            grid += &height.to_string();
            grid.push(' ');
        }
        grid += "\n";
    }
    fs::write(&input, grid).expect("the grid is written");
    let output = folder.join("made/by/the/program");
    let printed = succeeds(
        TERRAIN,
        &[text(&input), "--output", text(&output), "--repeat", "1"],
        "7 rows, 9 columns, 63 cells",
    );
    assert!(printed.contains("62 with data"), "{printed}");

    for name in ["sky-view.png", "hillshade.png"] {
        let (width, height, pixels) = picture(&output.join(name));
        assert_eq!((width, height), (9, 7), "{name}");
        let grey = |row: usize, column: usize| pixels[2 * (row * 9 + column)];
        let clear: Vec<_> =
            pixels.chunks(2).enumerate().filter(|(_, pixel)| pixel[1] == 0).collect();
        assert_eq!(clear.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [6 * 9 + 4], "{name}");
        if name == "sky-view.png" {
            assert_eq!(grey(3, 4), 255, "the top sees all of the sky");
            assert!(grey(3, 4) > grey(1, 2), "the side sees less");
        } else {
            assert!(grey(1, 2) > 200, "the side towards the sun is bright");
            assert!(grey(5, 6) < 50, "the side away from it is dark");
        }
    }
}

#[test]
fn terrain_runs_under_every_schedule() {
    let folder = folder("terrain_runs_under_every_schedule");
    let input = folder.join("slope.asc");
    let row = "1 2 4 8 16 8 4 2 1\n";
    let header = "ncols 9\nnrows 40\nxllcorner 0\nyllcorner 0\ncellsize 0.001\n";
    fs::write(&input, header.to_owned() + &row.repeat(40)).expect("written");
    for schedule in ["auto", "static", "static(7)", "steal", "dynamic", "dynamic(7)", "serial"] {
        let options = ["--output", text(&folder), "--schedule", schedule, "--threads", "3"];
        let arguments = [&[text(&input)], options.as_slice()].concat();
        let printed = succeeds(TERRAIN, &arguments, "the parallel results are the serial ones");
        assert!(printed.contains(&format!("schedule: {schedule}\nseats: 3\n")), "{printed}");
    }
}

#[test]
fn terrain_says_what_is_wrong_with_its_input() {
    let folder = folder("terrain_says_what_is_wrong_with_its_input");
    let input = folder.join("bad.asc");
    fs::write(&input, "ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n3 x\n")
        .expect("written");
    let error = fails(TERRAIN, &[text(&input), "--output", text(&folder)], 1);
    assert!(error.contains("bad.asc: line 7, column 3: `x` is not a number"), "{error}");

    let missing = folder.join("missing.asc");
    let error = fails(TERRAIN, &[text(&missing)], 1);
    assert!(error.contains("missing.asc: cannot be read: "), "{error}");
    let error = fails(TERRAIN, &[text(&folder)], 1);
    assert!(error.contains("cannot be read: "), "{error}");
}

#[test]
fn terrain_says_where_it_cannot_write() {
    let folder = folder("terrain_says_where_it_cannot_write");
    let input = folder.join("flat.asc");
    fs::write(&input, "ncols 1\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize 1\n5\n")
        .expect("written");
    let error = fails(TERRAIN, &[text(&input), "--output", text(&input)], 1);
    assert!(error.contains("flat.asc: cannot be made: "), "{error}");
    fs::create_dir(folder.join("sky-view.png")).expect("a folder in the picture's place");
    let error = fails(TERRAIN, &[text(&input), "--output", text(&folder)], 1);
    assert!(error.contains("sky-view.png: cannot be written: "), "{error}");
}

#[test]
fn terrain_refuses_options_that_make_no_sense() {
    for option in [
        ["--directions", "0"],
        ["--sun-altitude", "91"],
        ["--sun-azimuth", "nan"],
        ["--repeat", "0"],
        ["--units", "feet"],
        ["--schedule", "steel"],
        ["--threads", "0"],
    ] {
        let error = fails(TERRAIN, &option, 2);
        assert!(error.contains(option[0]), "{error}");
    }
}

#[test]
fn axpy() {
    succeeds(env!("CARGO_BIN_EXE_axpy"), &["1", "1000", "--repeat", "3"], "bit for bit");
    fails(env!("CARGO_BIN_EXE_axpy"), &["0"], 2);
}

#[test]
fn numa_triad() {
    let program = env!("CARGO_BIN_EXE_numa_triad");
    let told = succeeds(program, &["20000", "--repeat", "3"], "bit for bit");
    for words in
        ["NUMA nodes", "arrays made by one thread", "arrays made by first touch", "  pages"]
    {
        assert!(told.contains(words), "{told}");
    }
    // Either it is known or it is said why not.
    assert_eq!(told.matches("local").count() - told.matches("locality").count(), 4, "{told}");
    succeeds(program, &["1"], "bit for bit");
    fails(program, &["0"], 2);
}

#[test]
fn heat() {
    for cells in ["1", "2", "12"] {
        succeeds(
            env!("CARGO_BIN_EXE_heat"),
            &["--cells", cells, "--steps", "20"],
            "no heat is lost",
        );
    }
}

#[test]
fn matmul() {
    for size in ["1", "40"] {
        succeeds(env!("CARGO_BIN_EXE_matmul"), &["--size", size, "--repeat", "2"], "bit for bit");
    }
}

#[test]
fn histogram() {
    let folder = folder("histogram");
    let input = folder.join("letters");
    fs::write(&input, "abababab").expect("written");
    let arguments = [text(&input), "--repeat", "2"];
    let printed = succeeds(env!("CARGO_BIN_EXE_histogram"), &arguments, "8 bytes, 1.000 bits");
    assert!(printed.contains("'b'          4"), "{printed}");
    fs::write(&input, "").expect("written");
    succeeds(env!("CARGO_BIN_EXE_histogram"), &arguments, "0 bytes, 0.000 bits");
    let error = fails(env!("CARGO_BIN_EXE_histogram"), &[text(&folder)], 1);
    assert!(error.contains("cannot be read: "), "{error}");
}

#[test]
fn triangular() {
    let arguments = ["--samples", "1000", "--repeat", "1"];
    succeeds(env!("CARGO_BIN_EXE_triangular"), &arguments, "bit for bit");
}
