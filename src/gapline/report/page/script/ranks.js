// 1 + how many are better by more than a tie.
function ranksOf(means, tie) {
  return means.map((mean) => (Number.isNaN(mean) ? null : 1 + means.filter((other) => other < mean - tie).length));
}

// Why no rank can be given under this choice, or null.
function unrankable(choice, below) {
  if (choice.kernel.kind !== "berthold" || !below) return null;
  return `berthold is out of its envelope: ${formatCount(below)} runs end below their reference; shown, not ranked`;
}

// The visible arms in the order of the tables: what every choice that hides, weighs or measures otherwise changes.
function rankArms(head, choice, arms) {
  const visible = arms.filter((row) => !choice.hidden.has(row.name));
  const below = visible.reduce((sum, row) => sum + row.below, 0);
  const notRanked = unrankable(choice, below);
  // Descriptive arms (tier 2) have no rank and stand below the compared ones, by name.
  const eligible = visible.filter((row) => !row.descriptive);
  const ranks = ranksOf(eligible.map((row) => row.score), head.tie);
  visible.forEach((row) => (row.rank = null));
  eligible.forEach((row, k) => (row.rank = notRanked ? null : ranks[k]));
  const compared = [...eligible].sort((a, b) => orderOf(a.score, b.score) || (a.name < b.name ? -1 : 1));
  const ranked = [...compared, ...visible.filter((row) => row.descriptive)];
  const leaders = new Set(ranked.slice(0, head.leaders).map((row) => row.arm));
  return { arms, visible, compared, ranked, leaders, below, notRanked };
}
