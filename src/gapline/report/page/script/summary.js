// Everything the tables show, for every arm, hidden or not; ranks are among the visible ones.
function summariseAll(page, choice, reading) {
  const { head, runs, steps } = page;
  const score = cellSums(page, (r) => reading.score[r]);
  const attained = cellSums(page, (r) => (Number.isFinite(reading.hit[r]) ? 1 : 0));
  const finalGap = cellSums(page, (r) => (reading.stop[r] === steps.first[r] ? null : reading.finalGap[r]));
  const arms = head.arms.map((name, arm) => ({
    arm, name, descriptive: head.tierTwo.includes(name), runs: 0, empty: 0, rejected: 0, late: 0, unchecked: 0, below: 0,
    // No prototype: a status may have any name.
    statuses: Object.create(null),
    score: cellMean(page, score, arm, choice.weighting),
    attained: cellMean(page, attained, arm, choice.weighting),
    finalGap: cellMean(page, finalGap, arm, choice.weighting),
  }));
  for (let r = 0; r < runs.arm.length; r++) {
    const row = arms[runs.arm[r]];
    row.runs++;
    row.empty += reading.stop[r] === steps.first[r] ? 1 : 0;
    row.rejected += runs.rejected[r];
    row.unchecked += runs.unchecked[r];
    row.late += reading.late[r];
    row.below += reading.below[r];
    row.statuses[runs.status[r]] = (row.statuses[runs.status[r]] || 0) + 1;
  }
  const shown = arms.filter((row) => !choice.hidden.has(row.name));
  const below = shown.reduce((sum, row) => sum + row.below, 0);
  const reason = unrankable(choice, below);
  // Descriptive arms (tier 2) have no rank and stand below the compared ones, by name.
  const compared = shown.filter((row) => !row.descriptive);
  const ranks = ranksOf(compared.map((row) => row.score), head.tie);
  shown.forEach((row) => (row.rank = null));
  compared.forEach((row, k) => (row.rank = reason ? null : ranks[k]));
  const best = [...compared].sort((a, b) => orderOf(a.score, b.score) || (a.name < b.name ? -1 : 1));
  const ranked = [...best, ...shown.filter((row) => row.descriptive)];
  const leaders = new Map(ranked.slice(0, head.colours.length).map((row, place) => [row.arm, place]));
  return { arms, visible: shown, compared: best, ranked, leaders, score, attained, finalGap, below, notRanked: reason };
}
