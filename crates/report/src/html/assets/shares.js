// How far a share may be off of which the counts are known, as the other forms of report say it.

/** The logarithm of n!, by Stirling's series. */
function lnFactorial(n) {
  if (n < 16) {
    let product = 1;
    for (let i = 2; i <= n; i++) product *= i;
    return Math.log(product);
  }
  return (n + 0.5) * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI) + (1 / 12 - 1 / (360 * n * n)) / n;
}

/** The share at which `part` or more of `whole` would be seen with probability α/2, by Newton's method. */
function lowerEnd(part, whole, alpha) {
  if (part === 0) return 0;
  const lnWays = lnFactorial(whole) - lnFactorial(part) - lnFactorial(whole - part);
  const wanted = Math.log(alpha / 2);
  let ln = Math.log(part / whole);
  for (let step = Infinity, i = 0; i < 100 && Math.abs(step) > 1e-12; i++) {
    const p = Math.exp(ln);
    // The probability of `part` or more over that of `part`: the terms fall.
    let ratio = 1;
    for (let term = 1, j = part; j < whole && term > 1e-16 * ratio; j++) {
      term *= (((whole - j) / (j + 1)) * p) / (1 - p);
      ratio += term;
    }
    const rest = part === whole ? 0 : (whole - part) * Math.log1p(-p);
    step = ((lnWays + part * ln + rest + Math.log(ratio) - wanted) * ratio) / part;
    ln -= step;
  }
  return Math.exp(ln);
}

/** Clopper and Pearson's interval for a share at 1 − α: `28.8% to 51.5%`. */
function clopperPearson(part, whole, alpha) {
  const ends = [lowerEnd(part, whole, alpha), 1 - lowerEnd(whole - part, whole, alpha)];
  return ends.map((end) => `${fixed(end * 100, 1)}%`).join(" to ");
}

