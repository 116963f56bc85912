// 1 + how many are better by more than a tie.
function ranksOf(means, tie) {
  return means.map((mean) => (Number.isNaN(mean) ? null : 1 + means.filter((other) => other < mean - tie).length));
}

// Why no rank can be given under this choice, or null.
function unrankable(choice, below) {
  if (choice.kernel.kind !== "berthold" || !below) return null;
  return `berthold is out of its envelope: ${formatCount(below)} runs end below their reference; shown, not ranked`;
}
