//! my_kernel.rs - a kernel as a program, to change: softmax attention in f32, mask=full or causal; no crate is needed.
//!
//! Build  rustc --edition 2021 -O kernels/template/my_kernel.rs -o my_kernel
//! Audit  build/attest audit --exec ./my_kernel
//!
//! attest writes a line a run to stdin and the tensors to DIR/q.npy, ..; the answer is DIR/o.npy and the line `ok`.
use std::collections::HashMap;
use std::io::{BufRead, Write};

const HEADER: usize = 128; // bytes of a .npy header of attest

fn read(dir: &str, name: &str) -> std::io::Result<Vec<f32>> {
    let bytes = std::fs::read(format!("{dir}/{name}.npy"))?;
    Ok(bytes[HEADER..].chunks_exact(4).map(|x| f32::from_le_bytes(x.try_into().unwrap())).collect())
}

fn write(dir: &str, name: &str, shape: &[usize], x: &[f32]) -> std::io::Result<()> {
    let sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({sizes}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec(); // 118 bytes of text follow
    bytes.extend(format!("{text:<117}\n").bytes());
    bytes.extend(x.iter().flat_map(|x| x.to_le_bytes()));
    std::fs::write(format!("{dir}/{name}.npy"), bytes)
}

/// What the kernel computes of one query: all scores and their maximum, then weights and sums, then o = u / l.
fn one_row(q: &[f32], k: &[f32], v: &[f32], keys: usize, scale: f32, o: &mut [f32]) {
    let (d, e) = (q.len(), o.len());
    let dot = |j: usize| q.iter().zip(&k[j * d..]).fold(0f32, |sum, (x, y)| sum + x * y);
    let mut w: Vec<f32> = (0..keys).map(|j| scale * dot(j)).collect();
    let most = w.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    w.iter_mut().for_each(|s| *s = (*s - most).exp());
    let l: f32 = w.iter().sum();
    for (c, x) in o.iter_mut().enumerate() {
        *x = (0..keys).fold(0f32, |sum, j| sum + w[j] * v[j * e + c]) / l;
    }
}

fn run(words: &HashMap<&str, &str>) -> std::io::Result<()> {
    let size = |key: &str| words[key].parse::<usize>().unwrap();
    let (b, hq, hkv, n, m) = (size("b"), size("hq"), size("hkv"), size("n"), size("m"));
    let (d, e, dir) = (size("d"), size("e"), words["dir"]);
    let scale = words["scale"].parse::<f64>().unwrap() as f32;
    let causal = words.get("mask") == Some(&"causal");
    let (q, k, v) = (read(dir, "q")?, read(dir, "k")?, read(dir, "v")?);
    let mut o = vec![0f32; b * hq * n * e];
    for (row, o) in o.chunks_exact_mut(e).enumerate() {
        let (batch, h, i) = (row / n / hq, row / n % hq, row % n);
        let head = batch * hkv + h * hkv / hq;
        let keys = if causal { m.min(i + 1) } else { m };
        one_row(&q[row * d..][..d], &k[head * m * d..][..m * d], &v[head * m * e..][..m * e], keys, scale, o);
    }
    write(dir, "o", &[b, hq, n, e], &o)
}

fn main() {
    let say = |text: String| {
        println!("{text}");
        std::io::stdout().flush().unwrap();
    };
    // What it serves beside plain softmax, and what you know of its arithmetic: kernels/door/door.h.
    say("attest 1 name=my-kernel mask=full,causal schedule=two-pass flags=deterministic".to_string());
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: HashMap<&str, &str> = line.split(' ').filter_map(|word| word.split_once('=')).collect();
        match run(&words) {
            Ok(()) => say("ok".to_string()),
            Err(why) => say(format!("error {why}")),
        }
    }
}
