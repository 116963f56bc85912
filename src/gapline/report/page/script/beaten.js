// The score of every run under one choice: the rules of gapline.scoring, step by step. Tolerance, tie and the kinds of
// kernel and weight come with the data, so that the page has no opinion of its own on any of them.

// Whether a value is below a reference by more than the relative tolerance: gapline.native.kernel_formulas.
function isBeaten(value, reference, tolerance) {
  return value < reference - tolerance * Math.abs(reference);
}
